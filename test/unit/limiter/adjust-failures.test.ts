import {
  createLimiter,
  fixedWindow,
  type Limiter,
  type LimiterOptions,
  memoryStore,
  type Store,
} from 'headgate'
import { customStore } from 'headgate/store'
import { nextTurn } from '../../support/next-turn.js'
import { until } from '../../support/servers/wait.js'

const hourly = fixedWindow({ limit: 100, window: '1h' })
const key = (user: string) => user

/** A remote store whose operations, but for charges, fail while `fails` returns true for their key. */
function failingRemote() {
  const memory = memoryStore()
  let fails = (_key: string) => false
  const store: Store = customStore({
    ...memory,
    name: 'remote',
    async apply(operations) {
      for (const operation of operations)
        if (operation.type !== 'charge' && fails(operation.key)) throw new Error('connection lost')
      await nextTurn()
      return memory.apply(operations)
    },
  })
  return {
    store,
    failFor(condition: typeof fails) {
      fails = condition
    },
  }
}

function limiterOn(store: Store, options: Partial<LimiterOptions<string>> = {}) {
  const limiter = createLimiter<string>({ policy: hourly, key, store, denyCache: false, ...options })
  limiter.events.on('storeError', () => undefined)
  const used = async () => (await limiter.peek('ada')).parts.map((part) => part.limit - part.remaining)
  return { limiter, used }
}

test('an adjustment that failed for one limit is done for the others before the next step', async () => {
  const { store, failFor } = failingRemote()
  const limits = ['a', 'b'].map((name) => ({ name, policy: hourly, key }))
  const { limiter, used } = limiterOn(store, { limits, policy: undefined as never, key: undefined as never })
  const decision = await limiter.charge('ada')
  failFor((each) => each.includes('/a:'))
  await expect(limiter.adjust(decision, 50)).rejects.toThrow('connection lost')
  failFor(() => false)
  expect(await used()).toEqual([1, 50])
  await limiter.adjust(decision, 50)
  expect(await used()).toEqual([50, 50])
  failFor((each) => each.includes('/b:'))
  await expect(limiter.adjust(decision, 60)).rejects.toThrow('connection lost')
  failFor(() => false)
  await limiter.refund(decision)
  expect(await used()).toEqual([0, 0])
})

/** Fails until the circuit breaker lets no call through. */
async function openCircuit(limiter: Limiter<string>): Promise<void> {
  for (let i = 0; i < 20; i++)
    await expect(async () => limiter.penalize('eve', 1)).rejects.toThrow('connection lost')
}

test('a refund that the circuit breaker kept from the store is made once the store is back', async () => {
  const { store, failFor } = failingRemote()
  const { limiter, used } = limiterOn(store)
  const decision = await limiter.charge('ada', { cost: 50 })
  failFor(() => true)
  await openCircuit(limiter)
  await limiter.adjust(decision, 10)
  failFor(() => false)
  await limiter.adjust(decision, 10) // which counts it as made
  await until('the refund is made', async () => (await used())[0] === 10)
})

test('a refund of unknown outcome is not repeated by the next adjustment', async () => {
  const { store, failFor } = failingRemote()
  const { limiter, used } = limiterOn(store)
  const decision = await limiter.charge('ada', { cost: 50 })
  failFor(() => true)
  await expect(limiter.adjust(decision, 10)).rejects.toThrow('connection lost')
  failFor(() => false)
  await limiter.adjust(decision, 10)
  expect(await used()).toEqual([50])
  await limiter.adjust(decision, 20)
  expect(await used()).toEqual([60])
})
