import { AsyncLocalStorage } from 'node:async_hooks'
import {
  ban,
  concurrency,
  createLimiter,
  type Decision,
  fixedWindow,
  type Limiter,
  memoryStore,
  type Policy,
  type Store,
  tokenBucket,
} from 'headgate'
import { customStore } from 'headgate/store'
import { failingStore } from '../../support/failing-store.js'
import { lateStore, promisingStore } from '../../support/fault-stores.js'
import { nextTurn } from '../../support/next-turn.js'
import { storeOf } from '../../support/store-of.js'

afterEach(() => jest.useRealTimers())

const key = (id: string) => id
/** A limit that is exhausted for an hour after so many units. */
const hourly = (limit: number) => fixedWindow({ limit, window: '1h', startsAt: 'first-request' })
/** A bucket of one unit, which comes back after so many milliseconds. */
const oneEvery = (ms: number) => tokenBucket({ capacity: 1, refill: 1, every: `${ms}ms` })

/** Lets a subject wait several times. Returns the outcomes, and their places in the order of their end. */
function waitAll(
  limiter: Limiter<string>,
  count: number,
  options?: Parameters<Limiter<string>['waitFor']>[1],
) {
  const order: number[] = []
  const decisions = Array.from({ length: count }, (_, i) =>
    limiter.waitFor('a', options).finally(() => order.push(i)),
  )
  return { all: Promise.all(decisions), order }
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)

test('charges wait until they are allowed, in the order in which they came, and call the store seldom', async () => {
  const store = promisingStore()
  const limiter = createLimiter({ policy: oneEvery(20), key, store })
  const sinceMs = performance.now()
  const { all, order } = waitAll(limiter, 10)
  const decisions = await all
  expect(decisions.map(({ allowed, source }) => [allowed, source])).toEqual(
    upTo(10).map(() => [true, 'store']),
  )
  expect(order).toEqual(upTo(10))
  expect(performance.now() - sinceMs).toBeGreaterThanOrEqual(9 * 20 - 1)
  expect(store.charges.length).toBeLessThan(30) // those behind the first do not
})

test('a charge that nobody is ahead of is allowed at once', async () => {
  const limiter = createLimiter({ policy: hourly(2), key })
  expect(await limiter.waitFor('a')).toMatchObject({ allowed: true, remaining: 1 })
  expect(await limiter.waitFor('a', { cost: 0 })).toMatchObject({ allowed: true, remaining: 1 })
  expect(await limiter.waitFor('a', { maxWait: 0 })).toMatchObject({ allowed: true, remaining: 0 })
})

test('of those who wait, as many charge at the same time as units remain', async () => {
  const store = promisingStore()
  let pending = 0
  const pendings: number[] = []
  const apply: Store['apply'] = async (operations) => {
    pending += operations.length
    pendings.push(pending)
    await nextTurn()
    pending -= operations.length
    return store.apply(operations)
  }
  const limiter = createLimiter({ policy: hourly(20), key, store: customStore({ ...store, apply }) })
  const { all, order } = waitAll(limiter, 21, { maxWait: 60_000 })
  expect((await all).filter(({ allowed }) => allowed)).toHaveLength(20)
  expect(order).toEqual(upTo(21))
  expect(Math.max(...pendings)).toBe(19) // after the first, which waited for no other
})

test('who needs more than the first of a queue waits behind it, and so does who needs less', async () => {
  const limiter = createLimiter({ policy: tokenBucket({ capacity: 4, refill: 4, every: '40ms' }), key })
  await limiter.charge('a', { cost: 4 })
  const order: number[] = []
  await Promise.all([3, 1, 4, 1].map((cost) => limiter.waitFor('a', { cost }).then(() => order.push(cost))))
  expect(order).toEqual([3, 1, 4, 1])
})

test('of larger costs, too, each calls the store once', async () => {
  const store = promisingStore()
  const policy = tokenBucket({ capacity: 5, refill: 5, every: '20ms' })
  const limiter = createLimiter({ policy, key, store, denyCache: false })
  const { all } = waitAll(limiter, 8, { cost: 5 })
  expect((await all).every(({ allowed }) => allowed)).toBe(true)
  expect(store.charges.length).toBeLessThanOrEqual(8 + 2)
})

describe('where a limit is a ban', () => {
  const policy = ban(hourly(2), { after: 2, within: '1h', for: '1d' })

  test('those who wait earn none', async () => {
    const limiter = createLimiter({ policy, key })
    await limiter.charge('a', { cost: 2 })
    const { all } = waitAll(limiter, 3)
    await nextTurn()
    for (const _ of upTo(5))
      expect(await limiter.waitFor('a', { maxWait: 0 })).toMatchObject({ allowed: false, remaining: 0 })
    await limiter.reward('a', 2)
    await nextTurn()
    expect(await limiter.charge('a')).toMatchObject({ allowed: false }) // the first strike
    await limiter.reward('a', 2)
    expect((await all).map(({ allowed }) => allowed)).toEqual([true, true, true])
  })

  test('a denial has the figures of the limit', async () => {
    const limiter = createLimiter({ policy, key })
    const unlimited = await limiter.waitFor('a', { cost: 3 })
    expect(unlimited).toMatchObject({ allowed: false, remaining: 2, retryAfterMs: Number.POSITIVE_INFINITY })
    await limiter.waitFor('a', { cost: 2 })
    const { retryAfterMs, parts } = await limiter.waitFor('a', { maxWait: 1000 })
    expect(retryAfterMs).toBeGreaterThan(3_590_000)
    expect(parts).toMatchObject([{ allowed: false, cost: 1, limit: 2, remaining: 0, retryAfterMs }])
  })
})

test('who loses a unit to a plain charge goes on waiting', async () => {
  const limiter = createLimiter({ policy: hourly(1), key })
  await limiter.charge('a')
  const { all, order } = waitAll(limiter, 1)
  await nextTurn()
  limiter.forget('a') // the one who waits charges in a microtask
  expect(await limiter.charge('a')).toMatchObject({ allowed: true })
  await nextTurn()
  expect(order).toEqual([])
  await limiter.forget('a')
  expect(await all).toMatchObject([{ allowed: true, remaining: 0 }])
})

test('a refund and forget let the first of a queue try again', async () => {
  const limiter = createLimiter({ policy: hourly(1), key })
  const decision = await limiter.charge('a')
  const { all, order } = waitAll(limiter, 2)
  await limiter.refund(decision)
  await nextTurn()
  expect(order).toEqual([0])
  await limiter.forget('a')
  expect((await all).map(({ allowed }) => allowed)).toEqual([true, true])
})

describe('while the charge of the first is under way', () => {
  /** A limiter of one unit whose store decides charges at once, and answers when the test says so. */
  function decidedEarly() {
    const memory = memoryStore()
    const answers: (() => void)[] = []
    const apply: Store['apply'] = (operations) => {
      const outcomes = memory.apply(operations)
      if (operations.every(({ type }) => type !== 'charge')) return outcomes
      return new Promise((resolve) => answers.push(() => resolve(outcomes)))
    }
    const store: Store = customStore({ ...memory, name: 'late', apply })
    const limiter = createLimiter({ policy: hourly(1), key, store, timeout: 5000, denyCache: false })
    const answer = async () => {
      await nextTurn()
      for (const resolve of answers.splice(0)) resolve()
      await nextTurn()
    }
    return { limiter, answer }
  }

  test.each(['refund', 'forget'] as const)('%s lets it charge again if it was denied', async (method) => {
    const { limiter, answer } = decidedEarly()
    const taken = limiter.charge('a')
    await answer()
    const { all, order } = waitAll(limiter, 2)
    await nextTurn()
    if (method === 'refund') await limiter.refund(await taken)
    else await limiter.forget('a')
    await answer() // denied: it charges again
    await answer()
    expect(order).toEqual([0])
    await answer() // the second is denied
    await limiter.forget('a')
    await answer()
    expect((await all).map(({ allowed }) => allowed)).toEqual([true, true])
  })

  test('forget lets the next one charge if it was allowed', async () => {
    const { limiter, answer } = decidedEarly()
    const { all, order } = waitAll(limiter, 2)
    await nextTurn()
    await limiter.forget('a')
    await answer()
    await answer()
    expect(order).toEqual([0, 1])
    expect((await all).map(({ allowed }) => allowed)).toEqual([true, true])
  })
})

describe('maxWaitMs', () => {
  test.each<[string, number, number | undefined]>([
    ['beyond the deadline', 1, 60_000],
    ['never', 3, undefined],
  ])('a charge that may be allowed only %s is denied at once', async (_when, cost, maxWaitMs) => {
    const limiter = createLimiter({ policy: hourly(2), key })
    await limiter.charge('a', { cost: 2 })
    const denied: unknown[] = []
    limiter.events.on('denied', (decision, subject) => denied.push([decision, subject]))
    const decision = await limiter.waitFor('a', { cost, ...(maxWaitMs && { maxWait: `${maxWaitMs}ms` }) })
    expect(decision).toMatchObject({ allowed: false, limitName: '2-in-1h', limit: 2, remaining: 0 })
    expect(denied).toEqual([[decision, 'a']])
  })

  test('a cost that is never allowed is denied at once, whoever waits', async () => {
    const limiter = createLimiter({ policy: hourly(2), key })
    await limiter.charge('a', { cost: 2 })
    const { all } = waitAll(limiter, 2)
    await nextTurn()
    const never = await limiter.waitFor('a', { cost: 3 })
    expect(never).toMatchObject({ allowed: false, retryAfterMs: Number.POSITIVE_INFINITY })
    await limiter.close()
    await all
  })

  test('a charge is denied at once where the first of the queue has to wait longer', async () => {
    const limiter = createLimiter({ policy: hourly(1), key })
    await limiter.charge('a')
    const controller = new AbortController()
    const first = limiter.waitFor('a', { signal: controller.signal })
    const second = await limiter.waitFor('a', { maxWait: 1000 })
    expect(second).toMatchObject({ allowed: false, limit: 1, remaining: 0, source: 'deny-cache' })
    expect(second.retryAfterMs).toBeGreaterThan(3_590_000)
    controller.abort()
    await expect(first).rejects.toThrow('aborted')
  })

  test('a charge is denied as soon as one ahead leaves it no time, and those behind go on waiting', async () => {
    jest.useFakeTimers()
    const store = memoryStore({ clock: () => performance.now() })
    const limiter = createLimiter({ policy: oneEvery(60), key, store })
    await limiter.charge('a')
    const order: number[] = []
    const waits = [500, 80, 500].map((maxWaitMs, i) =>
      limiter.waitFor('a', { maxWait: `${maxWaitMs}ms` }).finally(() => order.push(i)),
    )
    await jest.advanceTimersByTimeAsync(59)
    expect(order).toEqual([])
    await jest.advanceTimersByTimeAsync(1)
    expect(order).toEqual([0, 1]) // 60 ms later would be too late for the second
    await jest.advanceTimersByTimeAsync(60)
    const [first, second, third] = await Promise.all(waits)
    expect(order).toEqual([0, 1, 2])
    expect([first?.allowed, third?.allowed]).toEqual([true, true])
    expect(second).toMatchObject({ allowed: false, limit: 1, parts: [{ name: '1-in-60ms', cost: 1 }] })
  })

  test('a charge whose deadline comes while nobody was denied yet is decided then', async () => {
    const store = lateStore()
    const limiter = createLimiter({ policy: hourly(2), key, store, timeout: 5000 })
    const waits = [limiter.waitFor('a'), limiter.waitFor('a', { maxWait: '10ms' })]
    await new Promise((resolve) => setTimeout(resolve, 30))
    store.answerAll()
    expect(await Promise.all(waits)).toMatchObject([{ remaining: 1 }, { allowed: true, remaining: 0 }])
  })
})

describe('concurrency', () => {
  const policy = concurrency({ limit: 1, ttl: '1m' })

  test('a release lets the first of a queue try again, whatever retryAfterMs says', async () => {
    const limiter = createLimiter({ policy, key })
    const held = await limiter.charge('a')
    const { all, order } = waitAll(limiter, 2, { maxWait: '500ms' })
    await nextTurn()
    expect(order).toEqual([])
    await limiter.release(held)
    await nextTurn()
    expect(order).toEqual([0])
    expect((await all).map(({ allowed }) => allowed)).toEqual([true, false])
  })

  test('a cost that is never allowed is denied at once', async () => {
    const limiter = createLimiter({ policy, key })
    expect(await limiter.waitFor('a', { cost: 2 })).toMatchObject({ allowed: false })
  })
})

describe('an abort', () => {
  test('of a signal without throwIfAborted rejects with its reason', async () => {
    const limiter = createLimiter({ policy: hourly(1), key })
    await limiter.charge('a')
    const controller = new AbortController()
    const { signal } = controller
    Object.defineProperty(signal, 'throwIfAborted', { value: undefined })
    const wait = limiter.waitFor('a', { signal })
    await nextTurn()
    controller.abort(new Error('too late'))
    await expect(wait).rejects.toThrow('too late')
    await expect(limiter.waitFor('a', { signal })).rejects.toThrow('too late')
  })

  test('before the call charges nothing', async () => {
    const limiter = createLimiter({ policy: hourly(1), key })
    const wait = limiter.waitFor('a', { signal: AbortSignal.abort(new Error('too late')) })
    await expect(wait).rejects.toThrow('too late')
    expect(await limiter.peek('a')).toMatchObject({ remaining: 1 })
  })

  test('while keys are read charges nothing', async () => {
    const limiter = createLimiter({ policy: hourly(1), key: async (id: string) => id })
    const controller = new AbortController()
    const wait = limiter.waitFor('a', { signal: controller.signal })
    controller.abort(new Error('too late'))
    await expect(wait).rejects.toThrow('too late')
    expect(await limiter.peek('a')).toMatchObject({ remaining: 1 })
  })

  test.each(['key', 'skip'] as const)('ends the wait for an async %s', async (option) => {
    const never = () => new Promise<never>(() => {})
    const limiter = createLimiter({ policy: hourly(1), key: () => 'a', [option]: never })
    const controller = new AbortController()
    const wait = limiter.waitFor('a', { signal: controller.signal })
    controller.abort(new Error('too late'))
    await expect(wait).rejects.toThrow('too late')
  })

  test('ends a wait at any place of the queue, and leaves the order of the others', async () => {
    const limiter = createLimiter({ policy: hourly(1), key })
    await limiter.charge('a')
    const controllers = upTo(5).map(() => new AbortController())
    const order: number[] = []
    const waits = controllers.map(({ signal }, i) => {
      return limiter.waitFor('a', { signal }).then(
        () => order.push(i),
        (reason) => order.push(reason),
      )
    })
    await nextTurn()
    for (const i of [2, 0, 4]) controllers[i]?.abort(`aborted ${i}`)
    await nextTurn()
    for (const _ of [1, 3]) {
      await limiter.forget('a')
      await nextTurn()
    }
    await Promise.all(waits)
    expect(order).toEqual(['aborted 2', 'aborted 0', 'aborted 4', 1, 3])
  })

  test('while a charge is under way refunds it, and the next one gets what it took', async () => {
    const store = promisingStore()
    const limiter = createLimiter({ policy: hourly(1), key, store })
    const controller = new AbortController()
    const aborted = limiter.waitFor('a', { signal: controller.signal })
    const next = limiter.waitFor('a')
    controller.abort(new Error('too late'))
    await expect(aborted).rejects.toThrow('too late')
    expect(store.refunds).toMatchObject([{ cost: 1 }])
    expect(await next).toMatchObject({ allowed: true, remaining: 0 })
  })

  test('emits refundFailed if the store cannot refund', async () => {
    const refund = async () => {
      throw new Error('connection lost')
    }
    const store = storeOf({ ...promisingStore(), refund })
    const limiter = createLimiter({ policy: hourly(1), key, store })
    const failures: unknown[] = []
    limiter.events.on('refundFailed', (_error, decision) => failures.push(decision?.allowed))
    const controller = new AbortController()
    const wait = limiter.waitFor('a', { signal: controller.signal })
    controller.abort(new Error('too late'))
    await expect(wait).rejects.toThrow('too late')
    expect(failures).toEqual([true])
  })
})

describe('several limits', () => {
  const limiter = () =>
    createLimiter<string>({
      limits: [
        { name: 'user', policy: hourly(2), key },
        { name: 'all', policy: oneEvery(30), key: () => 'all' },
      ],
    })

  test('who waits for a limit of its own does not hold up others', async () => {
    const { waitFor, close } = limiter()
    await Promise.all([waitFor('a'), waitFor('a')])
    const order: string[] = []
    const waits = ['a', 'b', 'a', 'c', 'b'].map((id) =>
      waitFor(id).then(({ allowed }) => order.push(`${id} ${allowed}`)),
    )
    await Promise.all([waits[1], waits[3], waits[4]])
    await close()
    await Promise.all(waits)
    expect(order).toEqual(['b true', 'c true', 'b true', 'a false', 'a false'])
  })

  test('who waits for a limit that all share is served in the order of arrival', async () => {
    const { waitFor } = limiter()
    const order: string[] = []
    const ids = ['a', 'b', 'c', 'b', 'a', 'd']
    await Promise.all(ids.map((id) => waitFor(id).then(() => order.push(id))))
    expect(order).toEqual(ids)
  })
})

test('a subject that no limit applies to does not wait', async () => {
  const limiter = createLimiter<string>({ limits: [{ policy: hourly(1), key, skip: () => true }] })
  expect(await limiter.waitFor('a')).toMatchObject({ allowed: true, source: 'none' })
})

test('allow, block and skip decide before anything is charged', async () => {
  const limiter = createLimiter<string>({
    policy: hourly(1),
    key: (id) => id,
    skip: async (id) => id === 'admin',
  })
  await limiter.charge('admin')
  expect(await limiter.waitFor('admin')).toMatchObject({ allowed: true, source: 'none' })
  const listed = createLimiter({ policy: hourly(1), allow: ['192.0.2.1'], block: ['192.0.2.2'] })
  const request = (remoteAddress: string) => ({ socket: { remoteAddress }, headers: {} })
  expect(await listed.waitFor(request('192.0.2.1'))).toMatchObject({ allowed: true, source: 'none' })
  expect(await listed.waitFor(request('192.0.2.2'))).toMatchObject({ allowed: false, source: 'blocked' })
})

test('in report mode nobody waits, and denials are emitted', async () => {
  const limiter = createLimiter({ policy: hourly(1), key, mode: 'report' })
  const limited: unknown[] = []
  limiter.events.on('denied', ({ allowed }) => limited.push(allowed))
  const decisions = [await limiter.waitFor('a'), await limiter.waitFor('a')]
  expect(decisions).toMatchObject([{ allowed: true }, { allowed: true, parts: [{ allowed: false }] }])
  expect(limited).toEqual([false])
})

test.each([
  ['allow', true, 'fail-open'],
  ['deny', false, 'fail-closed'],
  ['local', true, 'local'],
] as const)('when the store fails, onStoreError: %s decides', async (onStoreError, allowed, source) => {
  const store = failingStore()
  const limiter = createLimiter({ policy: hourly(5), key, store, onStoreError, denyCache: false })
  limiter.events.on('storeError', () => {})
  await limiter.charge('a', { cost: 5 })
  const { all } = waitAll(limiter, 3)
  await nextTurn()
  store.mode = 'failing'
  await limiter.forget('a') // gives the first its turn
  expect((await all).map((decision) => [decision.allowed, decision.source])).toEqual(
    upTo(3).map(() => [allowed, source]),
  )
})

describe('with the local fallback', () => {
  const policy = hourly(1)

  /** A limiter whose store has failed, and a decision that took the unit of its fallback. */
  async function exhausted(options: { policy?: Policy } = {}) {
    const fail = async () => {
      throw new Error('connection lost')
    }
    const store = customStore({ ...memoryStore(), name: 'failing', charge: fail, apply: fail, forget: fail })
    const limiter = createLimiter({ policy, key, store, onStoreError: 'local', ...options })
    limiter.events.on('storeError', () => {})
    return { limiter, taken: await limiter.charge('a') }
  }

  test.each<[string, Policy, (limiter: Limiter<string>, taken: Decision) => unknown]>([
    ['a refund', policy, (limiter, taken) => limiter.refund(taken)],
    ['an adjustment', policy, (limiter, taken) => limiter.adjust(taken, 0)],
    ['a release', concurrency({ limit: 1, ttl: '1m' }), (limiter, taken) => limiter.release(taken)],
    ['forget', policy, (limiter) => limiter.forget('a')],
    ['a reward', policy, (limiter) => limiter.reward('a', 1)],
  ])('%s lets the first of a queue try again', async (_what, limit, giveBack) => {
    const { limiter, taken } = await exhausted({ policy: limit })
    expect(taken).toMatchObject({ allowed: true, source: 'local' })
    const { all } = waitAll(limiter, 1, { maxWait: 7_200_000 })
    await nextTurn()
    await Promise.resolve(giveBack(limiter, taken)).catch(() => {}) // the store itself has failed
    expect(await all).toMatchObject([{ allowed: true, source: 'local' }])
  })
})

test('what onStoreError throws rejects the wait, and the next one has its turn', async () => {
  const store = failingStore()
  let failures = 0
  const onStoreError = () => {
    failures += 1
    if (failures === 1) throw new Error('no choice')
    return 'allow' as const
  }
  const limiter = createLimiter({ policy: hourly(1), key, store, onStoreError })
  limiter.events.on('storeError', () => {})
  await limiter.charge('a')
  const waits = Promise.allSettled([limiter.waitFor('a'), limiter.waitFor('a')])
  await nextTurn()
  store.mode = 'failing'
  await limiter.forget('a')
  expect(await waits).toMatchObject([
    { reason: { message: 'no choice' } },
    { value: { source: 'fail-open' } },
  ])
})

test('close denies all who wait with the figures of the limit, and later ones without a call of the store', async () => {
  const store = promisingStore()
  const limiter = createLimiter({ policy: hourly(1), key, store })
  await limiter.charge('a')
  const { all } = waitAll(limiter, 3)
  await nextTurn()
  await limiter.close()
  for (const decision of await all) {
    expect(decision).toMatchObject({ allowed: false, limit: 1, remaining: 0 })
    expect(decision.retryAfterMs).toBeGreaterThan(3_590_000)
  }
  const { length } = store.charges
  for (const options of [{}, { cost: 2 }])
    expect(await limiter.waitFor('b', options)).toMatchObject({ allowed: false, source: 'fail-closed' })
  expect(store.charges).toHaveLength(length)
})

test('close lets nobody have what it releases', async () => {
  const limiter = createLimiter({ policy: concurrency({ limit: 1, ttl: '1m' }), key })
  await limiter.charge('a')
  const { all } = waitAll(limiter, 3)
  await nextTurn()
  await limiter.close()
  expect((await all).map(({ allowed }) => allowed)).toEqual([false, false, false])
})

test('close denies those who wait for a charge under way without a charge', async () => {
  const store = lateStore()
  const limiter = createLimiter({ policy: hourly(5), key, store, timeout: 5000 })
  const { all } = waitAll(limiter, 3)
  await nextTurn()
  const closing = limiter.close()
  const late = limiter.waitFor('a')
  await nextTurn()
  store.answerAll()
  await closing
  const decisions = [...(await all), await late]
  expect(decisions.map(({ allowed, source }) => [allowed, source])).toEqual([
    [true, 'store'],
    ...upTo(3).map(() => [false, 'fail-closed']),
  ])
})

test('listeners are called in the async context of the one whose wait ends', async () => {
  const context = new AsyncLocalStorage<string>()
  const limiter = createLimiter({ policy: hourly(1), key })
  await limiter.charge('a')
  const seen: unknown[] = []
  limiter.events.on('denied', () => seen.push(context.getStore()))
  const waits = ['x', 'y'].map((name) => context.run(name, () => limiter.waitFor('a')))
  await limiter.close()
  await Promise.all(waits)
  expect(seen).toEqual(['x', 'y'])
})

test('no timer is left when nobody waits', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const before = timers()
  const limiter = createLimiter({ policy: hourly(1), key, store: memoryStore() })
  await limiter.charge('a')
  const controller = new AbortController()
  const { all } = waitAll(limiter, 3, { maxWait: 7_200_000, signal: controller.signal })
  await nextTurn()
  expect(timers() - before).toBe(4) // one for each deadline, and one for the first of the queue
  controller.abort()
  await expect(all).rejects.toThrow('aborted')
  await nextTurn()
  expect(timers()).toBe(before)
})

test.each<[object, string]>([
  [{ cost: 1.5 }, 'waitFor: cost must be a whole number of at least 0, got 1.5. Did you mean cost: 2?'],
  [{ maxWait: -1 }, 'waitFor: maxWait must be a duration from 1 ms to 10 years'],
  [{ maxWait: Number.POSITIVE_INFINITY }, 'got Infinity. Leave it out to wait until the charge is allowed.'],
  [{ maxWaitMs: 5 }, 'waitFor: there is no option "maxWaitMs". Did you mean maxWait?'],
  [{ signal: new AbortController() }, 'Did you mean signal: controller.signal?'],
])('wrong options reject: %j', async (options, message) => {
  const limiter = createLimiter({ policy: hourly(1), key })
  await expect(limiter.waitFor('a', options)).rejects.toThrow(message)
})
