import { isPromise, thenMaybe } from '../../../src/util/maybe-promise.js'

// biome-ignore lint/suspicious/noThenProperty: a thenable is what this is about
const thenable: PromiseLike<number> = { then: (use) => Promise.resolve(7).then(use) }

test.each([
  [Promise.resolve(1), true],
  [thenable, true],
  [undefined, false],
  [null, false],
  [0, false],
  ['then', false],
  [{}, false],
  // biome-ignore lint/suspicious/noThenProperty: neither is this one a promise
  [{ then: true }, false],
])('%p is a promise: %p', (value, expected) => {
  expect(isPromise(value)).toBe(expected)
})

test('thenMaybe calls back in the same tick with a value', () => {
  expect(thenMaybe(7, (value) => value + 1)).toBe(8)
  expect(thenMaybe(undefined, (value) => String(value))).toBe('undefined')
})

test('thenMaybe throws what its callback throws with a value', () => {
  expect(() =>
    thenMaybe(7, () => {
      throw new RangeError('seven')
    }),
  ).toThrow(RangeError)
})

test('thenMaybe returns a native promise for a promise or another thenable', async () => {
  for (const value of [Promise.resolve(7), thenable]) {
    const later = thenMaybe(value, (known) => known + 1)
    expect(later).toBeInstanceOf(Promise)
    expect(await later).toBe(8)
  }
})

test('thenMaybe rejects with what the promise rejects with', async () => {
  const use = jest.fn()
  await expect(thenMaybe(Promise.reject(new RangeError('seven')), use)).rejects.toThrow(RangeError)
  expect(use).not.toHaveBeenCalled()
})
