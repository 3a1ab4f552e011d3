import { createLimiter, memoryStore, type Store, StoreError } from 'headgate'
import { customStore } from 'headgate/store'

const limits = { limit: 5, window: '1m', key: () => 'somebody' }

test('a store that answers is healthy, and health takes nothing', async () => {
  const limiter = createLimiter({ ...limits, store: memoryStore() })
  expect(await limiter.health()).toEqual({
    isHealthy: true,
    store: 'memory',
    state: 'closed',
    tookMs: expect.any(Number),
  })
  expect(await limiter.charge({ ip: '192.0.2.7' })).toMatchObject({ remaining: 4 })
})

/** A store that fails while `isBroken`. */
function brokenStore() {
  const works = memoryStore()
  const made = { isBroken: true }
  const apply: Store['apply'] = (operations) => {
    if (made.isBroken) throw new Error('connection refused')
    return works.apply(operations)
  }
  return Object.assign(made, { store: customStore({ ...works, name: 'fake', apply }) satisfies Store })
}

test('a store that fails is not healthy, with the cause; health probes it when it works again', async () => {
  const broken = brokenStore()
  const limiter = createLimiter({ ...limits, store: broken.store })
  for (let i = 0; i < 19; i++) {
    expect(await limiter.health()).toMatchObject({ isHealthy: false, store: 'fake', state: 'closed' })
  }
  const { cause, state } = await limiter.health()
  expect(cause).toBeInstanceOf(StoreError)
  expect([cause?.message, state]).toEqual(['fake: connection refused', 'open'])
  broken.isBroken = false
  for (const endMs = performance.now() + 3000; performance.now() < endMs; ) {
    if ((await limiter.health()).isHealthy) break
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  expect(await limiter.health()).toMatchObject({ isHealthy: true, state: 'closed' })
})

test('each change of state is emitted once, with its cause', async () => {
  const broken = brokenStore()
  const limiter = createLimiter({ ...limits, store: broken.store })
  const states: unknown[] = []
  limiter.events.on('storeState', (...change) => states.push(change))
  const errors: StoreError[] = []
  limiter.events.on('storeError', (error) => errors.push(error))
  for (let i = 0; i < 100; i++)
    expect(await limiter.charge({ ip: '192.0.2.7' })).toMatchObject({ source: 'local' })
  expect(states).toEqual([['open', expect.objectContaining({ message: 'fake: connection refused' })]])
  expect(errors).toHaveLength(20)
})
