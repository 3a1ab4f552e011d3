import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createLimiter, logEvents, memoryStore, type Store, StoreError, tokenBucket } from 'headgate'
import { customStore, type Operation } from 'headgate/store'
import type { BreakerChange } from '../../../src/pipe/circuit-breaker.js'
import { CircuitOpenError } from '../../../src/pipe/errors.js'
import { request } from '../../../src/pipe/pipe.js'
import { keysOf } from '../../../src/stores/operation.js'
import type { Parts } from '../../../src/testing/conformance/store-calls.js'
import { chargePipe, remotePipe } from '../../support/remote-pipe.js'

const policy = tokenBucket({ capacity: 1000, refill: 1000, every: '1h' })

/** What a server does with calls: it answers, refuses them, or never answers. */
type Condition = 'up' | 'down' | 'silent'

/** A store on several servers. The server of a key is what precedes its colon, unless it has moved. */
function storeOnServers() {
  const memory = memoryStore()
  const conditions = new Map<string, Condition>()
  const moved = new Map<string, string>()
  const calls: string[] = []
  const serverOf = (key: string) => moved.get(key) ?? key.split(':')[0] ?? ''

  /** Calls the servers of some keys one after the other, until one does not answer. */
  async function call(keys: readonly { readonly key: string }[]): Promise<void> {
    for (const server of new Set(keys.map(({ key }) => serverOf(key)))) {
      calls.push(server)
      const condition = conditions.get(server) ?? 'up'
      if (condition === 'silent') await new Promise(() => undefined)
      if (condition === 'down') throw new StoreError('fake', 'connection refused', { server })
    }
  }

  const store: Store = customStore({
    name: 'fake',
    serverOf,
    async apply(operations) {
      await call(operations.flatMap(keysOf))
      return memory.apply(operations)
    },
  })
  const callsTo = (server: string) => calls.filter((each) => each === server).length
  return { store, conditions, moved, calls, callsTo, memory }
}

function pipeToServers() {
  const made = storeOnServers()
  const changes: BreakerChange[] = []
  const pipe = remotePipe(made.store, { timeoutMs: 100, onChange: (...change) => changes.push(change) })
  const chargeOf = (...keys: string[]): Parts => keys.map((key) => ({ key, policy, cost: 1 }))

  const charge = async (...keys: string[]) => chargePipe(pipe, chargeOf(...keys))

  /** Whether a charge of these keys was decided by the store. */
  async function isDecided(...keys: string[]): Promise<boolean> {
    const outcome = charge(...keys).then(
      () => true,
      () => false,
    )
    await jest.advanceTimersByTimeAsync(101)
    return outcome
  }

  /** Opens the circuit breaker of a server. */
  async function lose(server: string, condition: Condition = 'down'): Promise<void> {
    made.conditions.set(server, condition)
    for (let i = 0; i < 5; i++) await isDecided(`${server}:${i}`)
    made.calls.length = 0
  }

  return { ...made, pipe, changes, charge, isDecided, lose }
}

beforeEach(() => jest.useFakeTimers())
afterEach(() => jest.useRealTimers())

test('a server that is down keeps no call from the others', async () => {
  const { conditions, isDecided, callsTo, pipe, changes } = pipeToServers()
  conditions.set('b', 'down')
  for (let i = 0; i < 6; i++) {
    expect(await isDecided(`a:${i}`)).toBe(true)
    expect(await isDecided(`b:${i}`)).toBe(false)
  }
  expect([callsTo('a'), callsTo('b')]).toEqual([6, 5])
  expect(pipe.state()).toBe('open')
  expect(changes).toEqual([['open', expect.objectContaining({ server: 'b' }), 'b']])
})

test('a charge that needs a server that is not called is sent to none', async () => {
  const { lose, charge, calls } = pipeToServers()
  await lose('b')
  const error = await charge('a:1', 'b:1').catch((reason: unknown) => reason)
  expect(calls).toEqual([])
  expect(error).toBeInstanceOf(CircuitOpenError)
  expect(error).toMatchObject({
    server: 'b',
    message: expect.stringContaining('the circuit breaker of b is'),
  })
})

test('a charge on two servers probes the one that was lost, and its success closes that circuit breaker', async () => {
  const { lose, conditions, isDecided, pipe } = pipeToServers()
  await lose('b')
  conditions.set('b', 'up')
  await jest.advanceTimersByTimeAsync(1000)
  expect(await isDecided('a:1', 'b:1')).toBe(true)
  expect(pipe.state()).toBe('closed')
})

test.each<[string, (key: string) => Operation]>([
  ['refund', (key) => ({ type: 'refund', key, policy, cost: 1, takenAtMs: Date.now() })],
  ['forget', (key) => ({ type: 'forget', key, policy })],
])('a %s reaches a server that is up, and is unsent where its server is not called', async (type, of) => {
  const { lose, calls, pipe, memory, isDecided } = pipeToServers()
  await isDecided('a:1')
  await lose('b')
  const [up, down] = ['a:1', 'b:1'].map(async (key) => request(pipe, of(key)))
  expect(await up).toEqual({ type })
  const error = await down?.catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(CircuitOpenError)
  expect(error).toMatchObject({ server: 'b', unsent: true })
  expect(calls).toEqual(['a'])
  expect(memory.size).toBe(0)
})

test('a failure counts against the server that it names', async () => {
  const { conditions, isDecided, changes } = pipeToServers()
  conditions.set('b', 'down')
  for (let i = 0; i < 8; i++) await isDecided('a:1', 'b:1')
  expect(changes.map(([state, , server]) => [state, server])).toEqual([['open', 'b']])
})

test('a time-out counts against the servers that were silent meanwhile', async () => {
  const { conditions, charge, changes } = pipeToServers()
  conditions.set('b', 'silent')
  for (let i = 0; i < 8; i++) {
    const both = charge('a:1', 'b:1').catch(() => undefined)
    await charge('a:2')
    await jest.advanceTimersByTimeAsync(101)
    await both
    await jest.advanceTimersByTimeAsync(20)
  }
  expect(changes.map(([, , server]) => server)).toContain('b')
  expect(changes.map(([, , server]) => server)).not.toContain('a')
})

test('a denial by another server does not prove that the probed one is up', async () => {
  const { lose, isDecided, pipe, store } = pipeToServers()
  await lose('b')
  await jest.advanceTimersByTimeAsync(1000)
  const part = { allowed: false, remaining: 0, resetAfterMs: 9, retryAfterMs: 9, moreAfterMs: 9 }
  store.apply = async (operations) =>
    operations.map((operation) => {
      const parts = keysOf(operation).map(() => part)
      return { type: 'charge', allowed: false, atMs: 0, parts }
    })
  expect(await isDecided('a:1', 'b:1')).toBe(true)
  expect(pipe.state()).toBe('open')
})

test('after a failover, the new server is called at once, and the old one is forgotten', async () => {
  const { lose, moved, isDecided, callsTo, pipe, changes } = pipeToServers()
  await lose('b')
  for (let i = 0; i < 8; i++) moved.set(`b:${i}`, 'c')
  expect(await isDecided('b:7')).toBe(true)
  expect(callsTo('c')).toBe(1)
  expect(pipe.state()).toBe('closed')
  expect(changes.map(([state, , server]) => [state, server])).toEqual([
    ['open', 'b'],
    ['closed', 'b'],
  ])
})

test('of ever new servers, the oldest are forgotten', async () => {
  const { lose, pipe, charge, callsTo } = pipeToServers()
  await lose('b')
  for (let i = 0; i < 1000; i++) await charge(`other-${i}:1`)
  expect(pipe.state()).toBe('closed')
  await charge('b:1').catch(() => undefined)
  expect(callsTo('b')).toBe(1)
})

test('the health of a limiter is that of every server that is not called, and probes it', async () => {
  const { store, conditions, moved } = storeOnServers()
  store.serverOf = (key) => moved.get(key) ?? (/health(:\d*[02468])?$/.test(key) ? 'a' : 'b')
  const { apply } = store
  store.apply = (operations) => {
    const isOnB = operations.flatMap(keysOf).some(({ key }) => store.serverOf?.(key) === 'b')
    if (isOnB && conditions.get('b') === 'down') throw new StoreError('fake', 'refused', { server: 'b' })
    return apply(operations)
  }
  conditions.set('b', 'down')
  const limiter = createLimiter({
    limit: 1000,
    window: '1h',
    key: (id: string) => id,
    store: customStore(store),
  })
  limiter.events.on('storeError', () => undefined)
  expect(await limiter.health()).toMatchObject({ isHealthy: true, state: 'closed' })
  for (let i = 0; i < 20; i++) await limiter.charge('ada')
  expect(await limiter.health()).toMatchObject({ isHealthy: false, state: 'open', cause: { server: 'b' } })
  conditions.set('b', 'up')
  await jest.advanceTimersByTimeAsync(1001)
  expect(await limiter.health()).toMatchObject({ isHealthy: true, state: 'closed' })
})

test('events, logs and the channel say which server a circuit breaker stands before', async () => {
  const { store, conditions } = storeOnServers()
  store.serverOf = () => 'b'
  const { apply } = store
  store.apply = (operations) => {
    if (conditions.get('b') === 'down') throw new StoreError('fake', 'refused', { server: 'b' })
    return apply(operations)
  }
  conditions.set('b', 'down')
  const messages: unknown[] = []
  const receive = (message: unknown) => void messages.push(message)
  subscribe('headgate:store', receive)
  const limiter = createLimiter({
    limit: 1000,
    window: '1h',
    key: (id: string) => id,
    store: customStore(store),
  })
  const events: unknown[] = []
  limiter.events.on('storeState', (...change) => events.push(change)).on('storeError', () => undefined)
  const warn = jest.fn()
  logEvents(limiter, { debug: jest.fn(), info: jest.fn(), warn })
  for (let i = 0; i < 20; i++) await limiter.charge('ada')
  unsubscribe('headgate:store', receive)
  expect(events).toEqual([['open', expect.objectContaining({ server: 'b' }), 'b']])
  expect(messages).toContainEqual(expect.objectContaining({ type: 'state', state: 'open', server: 'b' }))
  expect(warn).toHaveBeenCalledWith(
    expect.objectContaining({ event: 'storeState', server: 'b' }),
    'headgate: the circuit breaker of b is open',
  )
})
