import fc from 'fast-check'
import { largest } from '../../../src/util/largest.js'

const sizeOf = ({ size }: { size: number }) => size
const valuesOf = (sizes: readonly number[]) => sizes.map((size, index) => ({ size, index }))

test('returns the largest, the first one first among equals, as sorting all of them does', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(9), { maxLength: 400 }), fc.nat(5), (sizes, most) => {
      const values = valuesOf(sizes)
      const sorted = [...values].sort((a, b) => b.size - a.size).slice(0, most)
      expect(largest(values, most, sizeOf)).toEqual(sorted)
    }),
  )
})

test('returns none if none is asked for, and all if there are fewer', () => {
  const values = valuesOf(Array.from({ length: 200 }, (_, i) => i))
  expect(largest(values, 0, sizeOf)).toEqual([])
  expect(largest(values, Number.POSITIVE_INFINITY, sizeOf)).toHaveLength(200)
})
