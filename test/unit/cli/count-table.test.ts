import { CountTable } from '../../../src/cli/replay/count-table.js'

test('windows are counted for each client and each number of requests', () => {
  const table = new CountTable()
  for (const [id, count] of [
    [1, 5],
    [1, 5],
    [2, 5],
    [2, 1],
    [3, 2 ** 30],
  ] as const)
    table.add(id, count)
  expect(table.windowsByCount(() => true)).toEqual(
    new Map([
      [5, 3],
      [2 ** 26 - 1, 1],
    ]),
  )
  expect(table.windowsByCount((id) => id === 2)).toEqual(new Map([[5, 1]]))
  expect(table.minCount).toBe(1)
})

test('with too many counts, small ones are forgotten', () => {
  const table = new CountTable(10)
  for (let id = 0; id < 40; id++) table.add(id, id)
  expect(table.minCount).toBe(32)
  expect([...table.windowsByCount(() => true).keys()]).toEqual([33, 34, 35, 36, 37, 38, 39])
  table.add(7, 32)
  expect(table.windowsByCount((id) => id === 7)).toEqual(new Map())
})
