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
])('%p has to be waited for: %p', (value, expected) => {
  expect(isPromise(value)).toBe(expected)
})

test('goes on in the same tick with a value that is there', () => {
  expect(thenMaybe(7, (value) => value + 1)).toBe(8)
  expect(thenMaybe(undefined, (value) => String(value))).toBe('undefined')
})

test('what it throws with a value that is there is thrown', () => {
  expect(() =>
    thenMaybe(7, () => {
      throw new RangeError('seven')
    }),
  ).toThrow(RangeError)
})

test('goes on later with a promise or another thenable, and gives a real promise', async () => {
  for (const value of [Promise.resolve(7), thenable]) {
    const later = thenMaybe(value, (known) => known + 1)
    expect(later).toBeInstanceOf(Promise)
    expect(await later).toBe(8)
  }
})

test('passes on what a promise is rejected with', async () => {
  const use = jest.fn()
  await expect(thenMaybe(Promise.reject(new RangeError('seven')), use)).rejects.toThrow(RangeError)
  expect(use).not.toHaveBeenCalled()
})
