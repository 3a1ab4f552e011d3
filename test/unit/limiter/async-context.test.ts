import { AsyncLocalStorage } from 'node:async_hooks'
import { createLimiter, memoryStore, type Store, tokenBucket, type Verdict } from 'headgate'
import { batcher } from '../../../src/stores/shared/batcher.js'
import { withSubmit } from '../../../src/stores/shared/submit.js'
import type { Charge } from '../../../src/stores/store.js'

const context = new AsyncLocalStorage<string>()
const policy = tokenBucket({ capacity: 1, refill: 1, every: '1d' })

/** A store that batches the charges of all callers, as those on a server do. */
function batchingStore(decide: (charges: readonly Charge[]) => readonly Verdict[]): Store {
  const { submit, submitAll } = batcher<Charge, Verdict>(
    async (charges, answer) => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      for (const [i, verdict] of decide(charges).entries()) answer(i, verdict)
    },
    { maxWeight: 100, maxInFlight: 1 },
  )
  const store = { name: 'batching', charge: submitAll, refund: async () => {}, forget: async () => {} }
  return withSubmit(store, submit)
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
    store: batchingStore((charges) => memory.charge(charges)),
  })
  const seen: unknown[] = []
  limiter.events.on('limited', (_decision, id) => seen.push([id, context.getStore()]))
  await chargeAll((id) => limiter.charge(id))
  expect(seen).toEqual([])
  await chargeAll((id) => limiter.charge(id))
  expect(seen).toEqual([
    ['a', 'a'],
    ['b', 'b'],
    ['c', 'c'],
  ])
})

test.each<[string, () => readonly Verdict[], number]>([
  ['fails', () => [0, 1, 2].map(() => new Error('broken') as never), 1000],
  ['is too slow', () => [], 1],
])(
  'onStoreError is called in the async context of the request where the store %s',
  async (_how, decide, timeoutMs) => {
    const seen: unknown[] = []
    const limiter = createLimiter<string>({
      policy,
      key: (id) => id,
      store: batchingStore(decide),
      timeoutMs,
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
