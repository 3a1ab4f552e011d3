import { listMemo, once, weakMemo } from '../../../src/util/memo.js'

test('a memo makes one value for each key, and forgets a failure', () => {
  const made: object[] = []
  const memo = weakMemo((key: { fails?: boolean }) => {
    made.push(key)
    if (key.fails) throw new Error('no value')
    return { key }
  })
  const [a, b, failing] = [{}, {}, { fails: true }]
  expect(memo(a)).toBe(memo(a))
  expect(memo(b)).not.toBe(memo(a))
  for (let i = 0; i < 2; i++) expect(() => memo(failing)).toThrow('no value')
  expect(made).toEqual([a, b, failing, failing])
})

test('a memo of lists makes a value again if a member is another, has come or has gone', () => {
  const make = jest.fn((list: readonly object[]) => [...list])
  const memo = listMemo(make)
  const [a, b, c] = [{}, {}, {}]
  expect(memo([a, b])).toBe(memo([a, b]))
  for (const list of [[a, c], [a, c, b], [a], [b]] as [object, ...object[]][])
    expect(memo(list)).toEqual(list)
  expect(make).toHaveBeenCalledTimes(5)
})

test('once makes its value at the first call, and again only after a failure', () => {
  const make = jest.fn(() => ({}))
  make.mockImplementationOnce(() => {
    throw new Error('no value')
  })
  const value = once(make)
  expect(make).not.toHaveBeenCalled()
  expect(value).toThrow('no value')
  expect(value()).toBe(value())
  expect(make).toHaveBeenCalledTimes(2)
})
