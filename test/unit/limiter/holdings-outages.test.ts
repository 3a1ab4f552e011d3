import {
  concurrency,
  createLimiter,
  type Decision,
  fixedWindow,
  type LimiterOptions,
  memoryStore,
  type Policy,
  type Store,
  StoreError,
} from 'headgate'
import {
  customStore,
  keysOf,
  type MaybePromise,
  type Operation,
  type Refund,
  type RefundResult,
} from 'headgate/store'
import type { LimiterPipe } from '../../../src/pipe/limiter-pipe.js'
import { type Pipe, request } from '../../../src/pipe/pipe.js'
import { resendRefunds } from '../../../src/pipe/resend-refunds.js'
import { REFUNDED } from '../../../src/stores/shared/apply-batch.js'

const LIMIT = 3
const TTL_MS = 60_000
const TIMEOUT_MS = 100
const slots = concurrency({ limit: LIMIT, ttl: TTL_MS, name: 'slots' })
const key = () => 'all'

beforeEach(() => {
  jest.useFakeTimers()
})
afterEach(() => {
  jest.useRealTimers()
})

/** How a store can be out of order. `hanging`: calls are made, in order, once it is up again. */
type Mode = 'up' | 'failing' | 'throwing' | 'hanging' | 'disconnected'

/** A remote store, and what is free in it whatever its mode is. */
function remoteStore() {
  const memory = memoryStore({ clock: Date.now })
  const hanging: (() => void)[] = []
  const refunds: Refund[] = []
  let mode: Mode = 'up'
  function call<T>(make: () => T): Promise<T> {
    if (mode === 'throwing') throw new Error('gone')
    if (mode === 'failing') return Promise.reject(new Error('gone'))
    if (mode === 'disconnected')
      return Promise.reject(new StoreError('remote', 'not connected', { unsent: true }))
    if (mode === 'up') return Promise.resolve(make())
    return new Promise((resolve) => hanging.push(() => resolve(make())))
  }
  async function replyToAll(): Promise<void> {
    for (const reply of hanging.splice(0)) reply()
    await jest.advanceTimersByTimeAsync(0)
  }
  const store: Store = customStore({
    name: 'remote',
    apply: (operations) =>
      call(() => {
        refunds.push(...operations.filter((each) => each.type === 'refund'))
        return memory.apply(operations)
      }),
  })
  return {
    store,
    refunds,
    memory,
    async switchTo(next: Mode) {
      mode = next
      if (next === 'up') await replyToAll()
    },
    replyToAll,
  }
}

function limiterOn(store: Store, options: Partial<LimiterOptions<unknown>> = {}) {
  const limiter = createLimiter<unknown>({
    store,
    policy: slots,
    key,
    timeout: `${TIMEOUT_MS}ms`,
    ...options,
  })
  const failures = { refundFailed: [] as unknown[], renewalFailed: [] as unknown[] }
  limiter.events.on('storeError', () => undefined)
  limiter.events.on('refundFailed', (error) => failures.refundFailed.push(error))
  limiter.events.on('renewalFailed', (error) => failures.renewalFailed.push(error))
  return { limiter, failures }
}

/** A limiter, a store, and what is free there. */
function made(options: Partial<LimiterOptions<unknown>> = {}) {
  const remote = remoteStore()
  const { limiter, failures } = limiterOn(remote.store, options)
  const reader = createLimiter<unknown>({
    store: customStore({ name: 'remote', apply: (operations) => remote.memory.apply(operations) }),
    policy: slots,
    key,
  })
  const free = async () => (await reader.peek('any')).remaining
  return { ...remote, limiter, failures, free }
}

const settled = async <T>(work: T | Promise<T>): Promise<Awaited<T>> => {
  const result = Promise.resolve(work)
  await jest.advanceTimersByTimeAsync(TIMEOUT_MS + 1)
  return await result
}

const advance = (ms: number) => jest.advanceTimersByTimeAsync(ms)

/** Charges and fails until the circuit breaker is open. */
async function openCircuit(limiter: ReturnType<typeof made>['limiter'], switchTo: (mode: Mode) => unknown) {
  await switchTo('failing')
  for (let i = 0; i < 20; i++) await limiter.charge('any')
}

describe('renewals', () => {
  test.each<Mode>(['failing', 'throwing', 'hanging', 'disconnected'])(
    'go on after the circuit breaker has opened on a store that is %s, so that the limit holds',
    async (mode) => {
      const { limiter, switchTo, free } = made()
      const decision = await limiter.charge('any', { cost: LIMIT })
      await switchTo(mode)
      for (let i = 0; i < 20; i++) {
        void limiter.charge('any')
        await advance(1000)
      }
      await switchTo('up')
      for (let i = 0; i < 20; i++) {
        await advance(TTL_MS / 8)
        expect(await free()).toBe(0)
      }
      await limiter.release(decision)
      expect(await free()).toBe(LIMIT)
      await limiter.close()
    },
  )

  test('tide units over an outage of three quarters of their ttl, whenever it begins', async () => {
    for (let begin = 0; begin < 16; begin++) {
      const { limiter, switchTo, free } = made()
      await limiter.charge('any', { cost: LIMIT })
      await advance((begin * TTL_MS) / 32)
      await switchTo('failing')
      for (let i = 0; i < 45; i++) {
        void limiter.charge('any')
        await advance(TTL_MS / 60)
      }
      await switchTo('up')
      for (let i = 0; i < 20; i++) {
        expect(await free()).toBe(0)
        void limiter.charge('any')
        await advance(TTL_MS / 60)
      }
      await limiter.close()
    }
  })

  test('whose reply comes late count their units once', async () => {
    const { limiter, switchTo, free, failures } = made()
    const decision = await limiter.charge('any', { cost: 2 })
    await switchTo('hanging')
    await advance(TTL_MS / 4)
    expect(failures.renewalFailed).toHaveLength(1)
    await switchTo('up')
    await advance(TTL_MS / 4)
    expect(await free()).toBe(LIMIT - 2)
    await limiter.release(decision)
    expect(await free()).toBe(LIMIT)
    await limiter.close()
  })

  test('of unknown outcome let a release wait for the place of its units', async () => {
    const { limiter, switchTo, free, refunds } = made()
    const decision = await limiter.charge('any', { cost: 2 })
    await switchTo('hanging')
    await advance(TTL_MS / 4)
    await limiter.release(decision)
    expect(refunds).toEqual([])
    await switchTo('up')
    await advance(TIMEOUT_MS)
    expect(await free()).toBe(LIMIT)
    await limiter.close()
  })
})

describe('a charge whose reply comes after its time-out', () => {
  const choices = [
    ['allow', 'fail-open'],
    ['deny', 'fail-closed'],
    ['local', 'local'],
  ] as const

  test.each(choices)('releases its units at once (onStoreError: %s)', async (onStoreError, source) => {
    const { limiter, switchTo, free } = made({ onStoreError })
    await switchTo('hanging')
    const decision = await settled(limiter.charge('any', { cost: 2 }))
    expect(decision.source).toBe(source)
    await switchTo('up')
    expect(await free()).toBe(LIMIT)
    await limiter.release(decision)
    expect(await free()).toBe(LIMIT)
    await limiter.close()
  })

  test('releases its units when it waited in waitFor, and when the probe of the breaker came first', async () => {
    const { limiter, switchTo, replyToAll, free } = made({ onStoreError: 'deny' })
    await switchTo('hanging')
    await settled(limiter.waitFor('any', { cost: 2, maxWait: 1000 }))
    await switchTo('up')
    expect(await free()).toBe(LIMIT)
    await openCircuit(limiter, switchTo)
    await advance(1001)
    await switchTo('hanging')
    const probe = limiter.peek('any')
    const charged = limiter.charge('any')
    await advance(TIMEOUT_MS / 2)
    await replyToAll() // to the probe
    expect(await settled(charged)).toMatchObject({ allowed: false })
    await probe
    await switchTo('up')
    expect(await free()).toBe(LIMIT)
    await limiter.close()
  })

  test('keeps what it took of other limits', async () => {
    const rate = fixedWindow({ limit: 5, window: '1d' })
    const remote = remoteStore()
    const options: LimiterOptions<unknown> = {
      limits: [
        { name: 'slots', policy: slots, key },
        { name: 'rate', policy: rate, key },
      ],
    }
    const limiter = createLimiter<unknown>({ ...options, store: remote.store, timeout: `${TIMEOUT_MS}ms` })
    limiter.events.on('storeError', () => undefined)
    await remote.switchTo('hanging')
    await settled(limiter.charge('any'))
    await remote.switchTo('up')
    expect((await limiter.peek('any')).parts.map(({ remaining }) => remaining)).toEqual([LIMIT, 4])
    await limiter.close()
  })
})

describe('a release', () => {
  test('that an open circuit breaker stops is made, once, when the store is back', async () => {
    const { limiter, switchTo, free, refunds, failures } = made()
    const decision = await limiter.charge('any', { cost: 2 })
    await openCircuit(limiter, switchTo)
    await limiter.release(decision)
    await advance(10_000)
    expect(await free()).toBe(LIMIT - 2)
    await switchTo('up')
    await advance(1500)
    expect(await free()).toBe(LIMIT)
    await advance(TTL_MS)
    expect([refunds.length, failures.refundFailed]).toEqual([1, []])
    await limiter.close()
  })

  test('that a client without a connection did not send is made when it has one', async () => {
    const { limiter, switchTo, free } = made()
    const decision = await limiter.charge('any')
    await switchTo('disconnected')
    await limiter.release(decision)
    await switchTo('up')
    await advance(250)
    expect(await free()).toBe(LIMIT)
    await limiter.close()
  })

  test('of unknown outcome is never repeated', async () => {
    const { limiter, switchTo, refunds } = made()
    const decision = await limiter.charge('any')
    await switchTo('failing')
    const failures: unknown[] = []
    limiter.events.on('refundFailed', (error, of) => failures.push([(error as Error).message, of]))
    await limiter.release(decision)
    expect(failures).toEqual([[expect.stringContaining('gone'), decision]])
    await switchTo('up')
    await advance(TTL_MS)
    expect(refunds).toEqual([])
    await limiter.close()
  })

  test('that is still unsent when the limiter is closed is tried once more, and then reported as lost', async () => {
    for (const [mode, lost] of [
      ['up', 0],
      ['disconnected', 1],
    ] as const) {
      const { limiter, switchTo, free, failures } = made()
      const decision = await limiter.charge('any')
      await switchTo('disconnected')
      await limiter.release(decision)
      await switchTo(mode)
      await limiter.close()
      expect(failures.refundFailed).toHaveLength(lost)
      expect(await free()).toBe(LIMIT - lost)
      await advance(TIMEOUT_MS * 3)
      expect(jest.getTimerCount()).toBe(0)
    }
  })
})

describe('of refunds that were not sent', () => {
  const unsent = new StoreError('remote', 'not connected', { unsent: true })
  /** A store whose circuit breaker is closed, and which can be reached by `check`. */
  const storeWith = (check: (key: string) => void) => ({
    name: 'remote',
    state: () => 'closed' as const,
    send: ((operation: Operation) => {
      try {
        for (const { key } of keysOf(operation)) check(key)
        return { type: 'charge', allowed: true, atMs: 0, parts: [] }
      } catch (error) {
        return error
      }
    }) as LimiterPipe['send'],
  })
  const refundOf = (name: string, policy: Policy = slots): Refund => {
    return { type: 'refund', key: name, policy, cost: 1, takenAtMs: 0, resetAtMs: TTL_MS }
  }

  /** Returns a function that refunds through `send`, and keeps what could not be sent. */
  function refunding(
    send: (refund: Refund) => Promise<RefundResult>,
    store: Parameters<typeof resendRefunds>[1],
    onLost: (error: unknown) => void,
  ): (refund: Refund) => MaybePromise<RefundResult> {
    const pipe: Pipe = {
      send(operation, settle) {
        send(operation as unknown as Refund).then(settle as never, settle)
        return undefined
      },
    }
    const resending = resendRefunds(pipe, store, onLost)
    return (refund) => request(resending, refund)
  }

  test('10,000 wait; one more loses the oldest', async () => {
    const lost: unknown[] = []
    const sent: string[] = []
    let isUp = false
    const check = () => {
      if (!isUp) throw unsent
    }
    const refund = refunding(
      async ({ key }) => {
        check()
        sent.push(key)
        return REFUNDED
      },
      storeWith(check),
      (error) => lost.push(error),
    )
    for (let i = 0; i < 10_001; i++) await refund(refundOf(String(i)))
    expect(lost).toMatchObject([{ cause: unsent }])
    isUp = true
    await advance(250)
    expect([sent.length, sent[0], jest.getTimerCount()]).toEqual([10_000, '1', 0])
  })

  test('those that are kept during a retry push out the oldest, not one another', async () => {
    const lost: unknown[] = []
    const sent: string[] = []
    let isUp = false
    let more = () => {}
    const check = () => {
      more()
      if (!isUp) throw unsent
    }
    const refund = refunding(
      async ({ key }) => {
        if (!isUp) throw unsent
        sent.push(key)
        return REFUNDED
      },
      storeWith(check),
      (error) => lost.push(error),
    )
    for (let i = 0; i < 10_000; i++) await refund(refundOf(String(i)))
    more = () => {
      more = () => {}
      for (let i = 0; i < 5; i++) void refund(refundOf(`later-${i}`))
    }
    await advance(250)
    expect(lost).toHaveLength(5)
    isUp = true
    await advance(250)
    expect([sent.length, sent[0], sent.at(-1)]).toEqual([10_000, '5', 'later-4'])
  })

  test('those of a server that is down keep none from the others', async () => {
    const sent: string[] = []
    const down = new Set(['a', 'b'])
    const check = (key: string) => {
      if (down.has(key.charAt(0))) throw unsent
    }
    const store = {
      ...storeWith(check),
      state: (keys?: readonly { key: string }[]) =>
        down.has(keys?.[0]?.key.charAt(0) ?? '') ? 'open' : 'closed',
    } as const
    const refund = refunding(
      async ({ key }) => {
        sent.push(key)
        return REFUNDED
      },
      store,
      () => {},
    )
    for (let i = 0; i < 1000; i++) await refund(refundOf(`a${i}`))
    await refund(refundOf('b'))
    expect(sent).toEqual([])
    down.delete('b')
    await advance(250)
    expect(sent).toEqual(['b'])
  })

  test('none waits for longer than it matters, and one that can be sent is not kept', async () => {
    const sent: string[] = []
    let isUp = false
    const check = (name: string) => {
      if (!isUp && name !== 'reachable') throw unsent
    }
    const refund = refunding(
      async ({ key }) => {
        check(key)
        sent.push(key)
        return REFUNDED
      },
      storeWith(check),
      () => undefined,
    )
    await refund(refundOf('reachable'))
    await refund(refundOf('brief', fixedWindow({ limit: 1, window: '1m' })))
    await refund(refundOf('slots'))
    await advance(TTL_MS + 500)
    isUp = true
    await advance(500)
    expect(sent).toEqual(['reachable', 'slots'])
  })
})

test('a client that has left frees its units a ttl later, even if its handler never ends', async () => {
  const { limiter, free } = made()
  const { stopRenewals } = await import('../../../src/limiter/concurrency/held-by-decision.js')
  const decisions: Decision[] = [await limiter.charge('any'), await limiter.charge('any')]
  stopRenewals(decisions[0] as Decision)
  await advance(TTL_MS - 1)
  expect(await free()).toBe(1)
  await advance(TTL_MS / 8 + 1)
  expect(await free()).toBe(2)
  await limiter.release(decisions[0] as Decision)
  expect(await free()).toBe(2)
  await limiter.release(decisions[1] as Decision)
  expect(await free()).toBe(LIMIT)
  await limiter.close()
})
