import { memoryStore } from 'headgate'

test.each<[unknown, string]>([
  [null, 'memoryStore: options must be an object, got null. Known options: maxKeys, clock.'],
  [5, 'memoryStore: options must be an object, got a number.'],
  ['1000', 'memoryStore: options must be an object, got a string.'],
  [[], 'memoryStore: options must be an object, got an array of 0.'],
  [
    { maxKeys: 0 },
    'memoryStore: maxKeys must be a whole number from 1 to 100000000, got 0. Did you mean maxKeys: 1?',
  ],
  [{ maxKeys: -5 }, 'got -5. Did you mean maxKeys: 1?'],
  [{ maxKeys: 1.5 }, 'got 1.5. Did you mean maxKeys: 2?'],
  [{ maxKeys: '1000' }, 'got "1000". Did you mean maxKeys: 1000?'],
  [{ maxKeys: 100_000_001 }, 'got 100000001. Did you mean maxKeys: 100000000?'],
  [{ maxKeys: Number.NaN }, 'maxKeys must be a whole number from 1 to 100000000, got NaN.'],
  [
    { maxKeys: Number.POSITIVE_INFINITY },
    'maxKeys must be a whole number from 1 to 100000000, got Infinity.',
  ],
  [{ maxKeys: Symbol.iterator }, 'got Symbol(Symbol.iterator).'],
  [{ maxKeys: [10] }, 'got an array of 1.'],
  [{ clock: 1_790_000_000_000 }, 'memoryStore: clock must be a function, got a number.'],
  [{ clock: null }, 'memoryStore: clock must be a function, got null.'],
  [{ max: 10 }, 'memoryStore: there is no option "max". Write maxKeys instead.'],
  [{ size: 10 }, 'memoryStore: there is no option "size". Write maxKeys instead.'],
  [{ maxkeys: 10 }, 'memoryStore: there is no option "maxkeys". Did you mean maxKeys?'],
  [{ ttlOfEverything: 10 }, 'Known options: maxKeys, clock.'],
])('memoryStore(%j) throws an error that names the fix', (options, message) => {
  expect(() => memoryStore(options as object)).toThrow(TypeError)
  expect(() => memoryStore(options as object)).toThrow(message)
})

test.each([
  undefined,
  {},
  { maxKeys: undefined, clock: undefined },
  { maxKeys: 1 },
  { maxKeys: 100_000_000 },
])('memoryStore(%j) creates an empty store', (options) => {
  const store = memoryStore(options as object)
  expect(store.name).toBe('memory')
  expect(store.size).toBe(0)
})
