import { AsyncLocalStorage } from 'node:async_hooks'
import { createLimiter, memoryStore, type Store, StoreError, tokenBucket } from 'headgate'
import { customStore, type Operation, type Outcome } from 'headgate/store'

const context = new AsyncLocalStorage<string>()
const policy = tokenBucket({ capacity: 1, refill: 1, every: '1d' })

type Decide = (operations: readonly Operation[]) => readonly Outcome[]

/** A store that batches the operations of all callers, as those on a server do. */
function batchingStore(decide: Decide): Store {
  return customStore({
    name: 'batching',
    batching: { maxKeys: 100, maxInFlight: 1 },
    async apply(operations) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      return decide(operations)
    },
  })
}

/** Charges clients in one batch, each in a context of its own, which is its name. */
async function chargeAll(charge: (id: string) => unknown): Promise<void> {
  await Promise.all(['a', 'b', 'c'].map((id) => context.run(id, async () => charge(id))))
}

test('listeners are called in the async context of the request that was denied', async () => {
  const memory = memoryStore()
  const limiter = createLimiter<string>({
    policy,
    key: (id) => id,
    store: batchingStore(memory.apply),
  })
  const seen: unknown[] = []
  limiter.events.on('denied', (_decision, id) => seen.push([id, context.getStore()]))
  await chargeAll((id) => limiter.charge(id))
  expect(seen).toEqual([])
  await chargeAll((id) => limiter.charge(id))
  expect(seen).toEqual([
    ['a', 'a'],
    ['b', 'b'],
    ['c', 'c'],
  ])
})

test.each<[string, Decide, number]>([
  ['fails', (operations) => operations.map(() => new StoreError('batching', 'broken')), 1000],
  ['is too slow', () => [], 1],
])(
  'onStoreError is called in the async context of the request where the store %s',
  async (_how, decide, timeoutMs) => {
    const seen: unknown[] = []
    const limiter = createLimiter<string>({
      policy,
      key: (id) => id,
      store: batchingStore(decide),
      timeout: `${timeoutMs}ms`,
      onStoreError(_error, id) {
        seen.push([id, context.getStore()])
        return 'allow'
      },
    })
    limiter.events.on('storeError', () => {})
    await chargeAll((id) => limiter.charge(id))
    expect(seen).toEqual([
      ['a', 'a'],
      ['b', 'b'],
      ['c', 'c'],
    ])
  },
)
