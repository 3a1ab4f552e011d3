import { createLimiter, leased, memoryStore, type Store } from 'headgate'
import { customStore } from 'headgate/store'
import { storeConformance } from 'headgate/testing'

const FIX = "Write customStore({ name, apply }), from 'headgate/store'."
const raw = (): Store => ({ name: 'raw', apply: async (operations) => memoryStore().apply(operations) })

test.each([undefined, null, 'redis', {}, { name: 'raw' }, { apply() {} }, () => {}])(
  'customStore throws a TypeError with the fix for %p',
  (value) => {
    const message =
      /^customStore: store must be an object with name and apply, got .*customStore\(\{ name, apply/
    expect(() => customStore(value as never)).toThrow(TypeError)
    expect(() => customStore(value as never)).toThrow(message)
  },
)

test('a store that is not from customStore is rejected with the fix when it is passed', async () => {
  expect(() => createLimiter({ limit: 1, window: '1m', key: () => 'a', store: raw() })).toThrow(FIX)
  expect(() => leased(raw())).toThrow(FIX)
  const [first] = storeConformance({
    makeStore: () => ({ store: raw(), advance() {} }),
    capabilities: { settableClock: true, anyKey: true, atomicAcrossKeys: true },
  })
  await expect((async () => first?.run())()).rejects.toThrow(FIX)
})

test('a store whose apply is replaced later, as by a spy, stays a store', async () => {
  const store = customStore(raw())
  const apply = jest.spyOn(store, 'apply')
  const limiter = createLimiter({ limit: 1, window: '1h', key: () => 'a', store })
  expect(await limiter.charge('a')).toMatchObject({ allowed: true, source: 'store' })
  expect(apply).toHaveBeenCalledTimes(1)
})

test('a copy with another apply is none', () => {
  const store = customStore(raw())
  const copy = { ...store, apply: raw().apply }
  expect(() => createLimiter({ limit: 1, window: '1h', key: () => 'a', store: copy })).toThrow(FIX)
})

test.each([null, 1, 'fast'])('batching: %p is an error', (batching) => {
  const store = { ...raw(), batching } as unknown as Store
  expect(() => customStore(store)).toThrow(
    new TypeError(`customStore: batching must be an object, got ${JSON.stringify(batching)}.`),
  )
})

test('customStore returns the same instance of a class, with its own methods', async () => {
  class ClassStore implements Store {
    readonly name = 'class'
    readonly #memory = memoryStore()
    async apply(operations: Parameters<Store['apply']>[0]) {
      return this.#memory.apply(operations)
    }
    async drop(): Promise<string> {
      return this.name
    }
  }
  const instance = new ClassStore()
  const store = customStore(instance)
  expect(store).toBe(instance)
  expect(await store.drop()).toBe('class')
  const limiter = createLimiter({ limit: 1, window: '1h', key: () => 'a', store })
  expect(await limiter.charge('a')).toMatchObject({ allowed: true, source: 'store' })
  expect(await limiter.charge('a')).toMatchObject({ allowed: false })
})
