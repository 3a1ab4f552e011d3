import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { isEqual } from '../../../src/testing/is-equal.js'

const value = fc.anything({
  withSparseArray: false,
  withNullPrototype: false,
  maxDepth: 3,
  key: fc.constantFrom('a', 'b'),
})

test('values of primitives, arrays and plain objects are equal if Node.js says so', () => {
  fc.assert(
    fc.property(value, value, (a, b) => {
      expect(isEqual(a, b)).toBe(isDeepStrictEqual(a, b))
      expect(isEqual(a, structuredClone(a))).toBe(true)
    }),
    { numRuns: 1000 },
  )
})

test.each<[string, unknown, unknown]>([
  ['a missing property and one that is undefined', {}, { a: undefined }],
  ['properties of other names', { a: undefined }, { b: undefined }],
  ['an array and an object with its properties', [1], { 0: 1 }],
  ['arrays of other lengths', [], new Array(1)],
  ['0 and -0', [0], [-0]],
  ['two dates', new Date(0), new Date(0)],
  ['null and an object', null, {}],
])('%s are not equal', (_case, a, b) => {
  expect([isEqual(a, b), isEqual(b, a)]).toEqual([false, false])
})

test('an object without a prototype is plain, and any object equals itself', () => {
  const date = new Date()
  expect(isEqual(Object.assign(Object.create(null), { a: [date] }), { a: [date] })).toBe(true)
})
