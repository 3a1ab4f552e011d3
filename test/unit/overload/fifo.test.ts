import fc from 'fast-check'
import { Fifo } from '../../../src/overload/fifo.js'

test('elements leave in the order in which they came', () => {
  const queue = new Fifo<number>()
  const seen: (number | undefined)[] = [queue.first]
  queue.push(1)
  queue.push(2)
  for (let i = 0; i < 3; i++) {
    seen.push(queue.first)
    queue.shift()
  }
  expect(seen).toEqual([undefined, 1, 2, undefined])
})

test('any order of pushes, shifts and clears gives what an array gives', () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: 1, max: 3000 }).map((count) => ({ push: count })) },
    { weight: 5, arbitrary: fc.integer({ min: 1, max: 3000 }).map((count) => ({ shift: count })) },
    { weight: 1, arbitrary: fc.constant('clear' as const) },
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const queue = new Fifo<number>()
      let model: number[] = []
      let next = 0
      for (const each of steps) {
        if (each === 'clear') {
          queue.clear()
          model = []
        } else if ('push' in each) {
          for (let i = 0; i < each.push; i++) {
            queue.push(next)
            model.push(next++)
          }
        } else {
          for (let i = 0; i < each.shift; i++) queue.shift()
          model = model.slice(each.shift)
        }
        if (queue.first !== model[0]) return false
      }
      return true
    }),
    { numRuns: 50 },
  )
})
