import fc from 'fast-check'
import {
  ban,
  concurrency,
  consecutive,
  memoryStore,
  type Policy,
  type Store,
  StoreError,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { type ChargeResult, customStore, type Operation, type Part } from 'headgate/store'
import { readDecided } from '../../../src/pipe/decided-units.js'
import { type OnLate, type Pipe, request, type SettleAny, sendFor } from '../../../src/pipe/pipe.js'
import { pipeTo } from '../../../src/pipe/store-end.js'
import { type TrackedResult, trackUndecided } from '../../../src/pipe/track-undecided.js'
import { figures } from '../../../src/testing/conformance/store-calls.js'
import { anyPolicy, costOf, takes, waitMs } from '../../properties/arbitrary-policies.js'

const START_MS = Date.UTC(2026, 0, 5, 12)

/** The same states behind a store that other processes may use as well. */
const shared = ({ apply }: Store): Store =>
  customStore({
    name: 'shared',
    apply: (operations) => apply(operations.map((operation) => ({ ...operation }))),
  })

/** A store in memory with a manual clock, and pipes of a process to it. */
function inMemory(isShared = false) {
  let nowMs = START_MS
  const store = memoryStore({ clock: () => nowMs })
  /** Creates the pipe of one more process. */
  const startProcess = (sent: Operation[] = []) => {
    const its = isShared ? shared(store) : store
    const pipe = pipeTo(its)
    const send: Pipe['send'] = (operation, ...rest) => {
      sent.push(operation)
      return pipe.send(operation, ...rest)
    }
    return trackUndecided({ send }, its)
  }
  return {
    store,
    plain: pipeTo(store),
    tracked: startProcess(),
    startProcess,
    advance(ms: number) {
      nowMs += ms
    },
  }
}

const charge = (pipe: Pipe, ...parts: Part[]) => request(pipe, { type: 'charge', parts }) as TrackedResult // memory returns no promise

/** A result with its figures, without the states that a store in memory returns with them. */
const withFigures = (result: ChargeResult) => ({ ...result, parts: result.parts.map(figures) })
const part = (policy: Policy, cost = 1, key = '{ada}'): Part => ({ key, policy, cost })
const strict = (policy: Policy, after = 1) => ban(policy, { after, within: '1h', for: '1h' })
const HALF_HOUR = 1_800_000

describe.each([
  ['a store of this process alone', false],
  ['a store that processes share', true],
])('with %s,', (_name, isShared) => {
  test('without undecided units, every verdict is that of the store', () => {
    fc.assert(
      fc.property(anyPolicy, takes, ({ policy }, trace) => {
        const [one, other] = [inMemory(isShared), inMemory(isShared)]
        for (const take of trace) {
          const ms = waitMs(policy, take)
          one.advance(ms)
          other.advance(ms)
          const asked = part(policy, costOf(policy, take))
          const { endUndecided, undecided: _, ...verdict } = charge(one.tracked, asked)
          endUndecided?.()
          expect(withFigures(verdict)).toEqual(withFigures(charge(other.plain, asked)))
        }
      }),
    )
  })

  test('nothing is left of the marks of requests whose outcome is known', () => {
    const { store, tracked } = inMemory(isShared)
    const [first, second] = [1, 2].map(() =>
      charge(tracked, part(tokenBucket({ capacity: 5, refill: 5, every: '1h' }))),
    )
    expect(store.size).toBe(isShared ? 2 : 1) // in a shared store, both have marks under a second key
    first?.endUndecided?.()
    second?.endUndecided?.()
    expect(store.size).toBe(1)
  })

  test('marks end once, however often their request is said to be decided', () => {
    const { tracked } = inMemory(isShared)
    const asked = part(slidingLog({ limit: 2, window: '30m' }))
    const first = charge(tracked, asked)
    charge(tracked, asked) // never ends
    first.endUndecided?.()
    first.endUndecided?.()
    expect(charge(tracked, asked)).toMatchObject({ isUndecided: true })
  })

  test('forgetting a key also forgets which of its units are undecided', () => {
    const { tracked } = inMemory(isShared)
    const asked = part(slidingLog({ limit: 5, window: '30m' }))
    charge(tracked, asked) // never ends
    request(tracked, { type: 'forget', ...asked })
    for (let i = 0; i < 5; i++) charge(tracked, asked).endUndecided?.()
    expect(charge(tracked, asked)).not.toHaveProperty('isUndecided')
  })

  describe('a denial that undecided units cause', () => {
    test.each<[string, Policy]>([
      ['a log', slidingLog({ limit: 2, window: '30m' })],
      ['failures in a row', consecutive({ limit: 2 })],
      ['a ban', strict(slidingLog({ limit: 2, window: '30m' }))],
    ])('names a second, and is not counted (%s)', (_, policy) => {
      const { tracked } = inMemory(isShared)
      charge(tracked, part(policy, 2))
      for (let i = 0; i < 50; i++)
        expect(charge(tracked, part(policy))).toMatchObject({
          isUndecided: true,
          isTentative: true,
          parts: [{ allowed: false, retryAfterMs: 1000, moreAfterMs: 1000 }],
        })
    })

    test('names less than a second if the limit has more by then', () => {
      const { tracked } = inMemory(isShared)
      const policy = tokenBucket({ capacity: 2, refill: 4, every: '1s' })
      charge(tracked, part(policy, 2))
      expect(charge(tracked, part(policy)).parts).toMatchObject([{ retryAfterMs: 250, moreAfterMs: 250 }])
    })

    test('is exact and counted once the units are decided', () => {
      const { tracked } = inMemory(isShared)
      const policy = strict(slidingLog({ limit: 2, window: '30m' }))
      const first = charge(tracked, part(policy, 2))
      charge(tracked, part(policy))
      first.endUndecided?.()
      const denial = charge(tracked, part(policy))
      expect(denial).not.toHaveProperty('isUndecided')
      expect(denial.parts).toMatchObject([{ allowed: false, isBanned: true, retryAfterMs: 2 * HALF_HOUR }])
    })

    test('shortens the retry time of its own limit only: that of another is exact', () => {
      const { tracked } = inMemory(isShared)
      const undecided = part(strict(slidingLog({ limit: 2, window: '30m' })))
      const decided = part(slidingLog({ limit: 1, window: '30m' }), 1, '{grace}')
      charge(tracked, { ...undecided, cost: 2 })
      charge(tracked, decided).endUndecided?.()
      const denial = charge(tracked, undecided, decided)
      expect(denial).not.toHaveProperty('isUndecided')
      expect(denial.parts).toMatchObject([{ retryAfterMs: 1000 }, { retryAfterMs: HALF_HOUR }])
      expect(charge(tracked, undecided).parts).toMatchObject([{ retryAfterMs: 1000 }]) // and not banned
    })

    test('is not assumed for a cost that never fits, or during a ban', () => {
      const { tracked, plain } = inMemory(isShared)
      const policy = strict(slidingLog({ limit: 2, window: '30m' }), 2)
      charge(tracked, part(policy))
      expect(charge(tracked, part(policy, 3)).parts).toMatchObject([
        { retryAfterMs: Number.POSITIVE_INFINITY },
      ])
      request(plain, { type: 'block', forMs: HALF_HOUR, key: '{ada}', policy })
      const denial = charge(tracked, part(policy))
      expect(denial).not.toHaveProperty('isUndecided')
      expect(denial.parts).toMatchObject([{ isBanned: true, retryAfterMs: HALF_HOUR }])
    })

    test('during a ban that attempts restart, the attempt restarts it', () => {
      const { tracked, plain, advance } = inMemory(isShared)
      const rules = { after: 1, within: '1h', for: '30m', onAttempt: 'restart' } as const
      const policy = ban(slidingLog({ limit: 2, window: '30m' }), rules)
      request(plain, { type: 'block', forMs: HALF_HOUR, key: '{ada}', policy })
      advance(60_000)
      expect(charge(tracked, part(policy)).parts).toMatchObject([{ isBanned: true, retryAfterMs: HALF_HOUR }])
    })
  })

  describe('a slow request', () => {
    const policy = strict(slidingLog({ limit: 5, window: '30m' }), 5)

    test('excuses denials of its process until its outcome is known', () => {
      const { tracked, advance } = inMemory(isShared)
      const all = part(policy, 5)
      const slow = charge(tracked, all)
      advance(HALF_HOUR - 1000)
      for (let i = 0; i < 20; i++) expect(charge(tracked, all)).toMatchObject({ isUndecided: true })
      slow.endUndecided?.()
      expect(charge(tracked, all)).not.toHaveProperty('isUndecided')
    })

    test('excuses only as many denials of failures as a client that waits for each retry time causes', () => {
      const { tracked } = inMemory(isShared)
      charge(tracked, part(policy)) // never ends
      for (let i = 0; i < 4; i++) charge(tracked, part(policy)).endUndecided?.()
      const denials = Array.from({ length: 15 }, () => charge(tracked, part(policy)))
      expect(denials.slice(0, 14).map(({ parts }) => parts[0]?.isBanned)).toEqual(Array(14).fill(undefined))
      expect(denials[14]?.parts).toMatchObject([{ isBanned: true }])
    })

    test('does not excuse the next window of a short limit', () => {
      const { tracked, advance } = inMemory(isShared)
      const short = slidingLog({ limit: 2, window: '1s' })
      charge(tracked, part(short)) // never ends
      advance(1000)
      charge(tracked, part(short, 2)).endUndecided?.()
      expect(charge(tracked, part(short))).not.toHaveProperty('isUndecided')
    })
  })
})

test.each([slidingLog({ limit: 5, window: '30m' }), strict(slidingLog({ limit: 50, window: '30m' }))])(
  'a slow request of another process excuses denials for a minute at most',
  (policy) => {
    const { startProcess, advance } = inMemory(true)
    const tracked = startProcess()
    charge(startProcess(), part(policy, policy.limit)) // never ends
    expect(charge(tracked, part(policy))).toMatchObject({ isUndecided: true })
    advance(20_000 - 1)
    expect(charge(tracked, part(policy))).toMatchObject({ isUndecided: true })
    advance(40_001)
    expect(charge(tracked, part(policy))).not.toHaveProperty('isUndecided')
  },
)

describe('marks', () => {
  const policy = slidingWindow({ limit: 80, window: '1h' })
  const types = (sent: readonly Operation[]) =>
    sent.map((operation) => (operation.type === 'charge' ? operation.parts.length : operation.type))

  test('are not needed for a few units of a limit that is hardly used', () => {
    const { startProcess } = inMemory(true)
    const sent: Operation[] = []
    const tracked = startProcess(sent)
    const charges = Array.from({ length: 10 }, () => charge(tracked, part(policy)))
    for (const { endUndecided } of charges) endUndecided?.()
    expect(types(sent)).toEqual(Array(10).fill(1))
  })

  test('are part of the charge once a process holds an eighth of the limit', () => {
    const { startProcess, store } = inMemory(true)
    const sent: Operation[] = []
    const tracked = startProcess(sent)
    charge(tracked, part(policy, 10))
    charge(tracked, part(policy)).endUndecided?.()
    expect(types(sent)).toEqual([1, 2, 'refund'])
    expect(store.size).toBe(1)
  })

  test('follow the charge if it finds more than an eighth of the limit in use', () => {
    const { startProcess, store } = inMemory(true)
    charge(startProcess(), part(policy, 10)).endUndecided?.()
    const sent: Operation[] = []
    charge(startProcess(sent), part(policy)).endUndecided?.()
    expect(sent).toMatchObject([
      { type: 'charge', parts: [{ key: '{ada}' }] },
      { type: 'charge', parts: [{ key: '{ada}?', cost: 1 }] },
      { type: 'refund', key: '{ada}?', cost: 1 },
    ])
    expect(store.size).toBe(1)
  })

  test('are never needed in a store of this process alone', () => {
    const { startProcess } = inMemory()
    const sent: Operation[] = []
    const tracked = startProcess(sent)
    charge(tracked, part(policy, 80))
    expect(charge(tracked, part(policy))).toMatchObject({ isUndecided: true })
    expect(types(sent)).toEqual([1, 1])
  })

  test('are sent with a second charge if one without them is denied', () => {
    const { startProcess } = inMemory(true)
    charge(startProcess(), part(policy, 80))
    const sent: Operation[] = []
    expect(charge(startProcess(sent), part(policy))).toMatchObject({ isUndecided: true })
    expect(types(sent)).toEqual([1, 2])
  })
})

/** A step of a request: it begins in a process, or the oldest one there succeeds or fails. */
const steps = fc.array(
  fc.record({ process: fc.nat(3), does: fc.constantFrom('begin', 'begin', 'succeed', 'fail') }),
  { maxLength: 120 },
)

test('four processes agree on which denials only undecided units cause', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), steps, (limit, trace) => {
      const { startProcess } = inMemory(true)
      const processes = Array.from({ length: 4 }, () => ({
        pipe: startProcess(),
        running: [] as TrackedResult[],
      }))
      const asked = part(slidingLog({ limit, window: '30m' }))
      const unmarked = limit < 16 ? 0 : Math.floor(limit / 8)
      let failures = 0
      for (const { process, does } of trace) {
        const { pipe, running } = processes[process] as (typeof processes)[0]
        const result = does === 'begin' ? charge(pipe, asked) : running.shift()
        if (result === undefined) continue
        if (does === 'begin' && result.allowed) running.push(result)
        else if (does === 'begin') {
          if (failures === limit) expect(result).not.toHaveProperty('isUndecided')
          else if (failures + unmarked < limit) expect(result).toMatchObject({ isUndecided: true })
        } else if (does === 'fail') failures++
        else request(pipe, { type: 'refund', ...asked, takenAtMs: result.atMs })
        if (does !== 'begin') result.endUndecided?.()
      }
    }),
  )
})

test.each([
  [10, 0],
  [80, 10],
])('a process reads how many units of a limit of %i are decided, or at most %i fewer', (limit, fewer) => {
  const { startProcess } = inMemory(true)
  const [one, other] = [startProcess(), startProcess()]
  const asked = part(slidingLog({ limit, window: '30m' }))
  for (let i = 0; i < 3; i++) charge(one, asked).endUndecided?.()
  charge(other, asked) // never ends
  const last = charge(one, asked)
  expect(last.undecided && readDecided(last.undecided, [asked])).toEqual([
    Math.max(0, 3 + (fewer === 0 ? 0 : 1) - fewer),
  ])
  for (let i = 0; i < fewer; i++) charge(other, asked).endUndecided?.()
  expect(last.undecided && readDecided(last.undecided, [asked])).toEqual([fewer === 0 ? 3 : 4])
})

describe('if the store fails after a denial,', () => {
  test.each([
    ['asked again with its marks', 2],
    ['counted', 3],
  ])('the denial stands (while it is %s)', async (_, failingCall) => {
    const { store } = inMemory()
    let calls = 0
    const failing: Store = customStore({
      name: 'failing',
      async apply(operations) {
        if (calls++ === failingCall) throw new Error('connection lost')
        return store.apply(operations) as ChargeResult[]
      },
    })
    const pipe = trackUndecided(pipeTo(failing), failing)
    const policy = strict(slidingLog({ limit: 1, window: '30m' }))
    const send = () => request(pipe, { type: 'charge', parts: [part(policy)] }) as Promise<TrackedResult>
    const { endUndecided } = await send()
    calls = 0
    endUndecided?.()
    expect(await send()).toMatchObject({ allowed: false, parts: [{ retryAfterMs: HALF_HOUR }] })
  })
  test('what it takes in the end is given back, if it is asked again and the reply is late', async () => {
    const { store, plain } = inMemory()
    const parts = [
      part(slidingLog({ limit: 1, window: '30m' })),
      part(concurrency({ limit: 1 }), 1, '{ada}:c'),
    ]
    let calls = 0
    let reply = (): unknown => 'was never asked'
    const slow = {
      send(operation: Operation, settle: SettleAny, onLate?: OnLate) {
        if (calls++ !== 1) return plain.send(operation, settle)
        queueMicrotask(() => settle(new StoreError('slow', 'no reply')))
        reply = () => {
          const late = plain.send(operation, settle) as ChargeResult
          onLate?.(late, operation)
          return late.allowed
        }
        return undefined
      },
    }
    const tracked = trackUndecided({ send: sendFor(slow.send) }, shared(store))
    charge(plain, parts[0] as Part)
    const denial = request(tracked, { type: 'charge', parts })
    expect(await denial).toMatchObject({ allowed: false })
    request(plain, { type: 'forget', ...(parts[0] as Part) })
    expect(reply()).toBe(true)
    expect(charge(plain, ...parts)).toMatchObject({ allowed: true })
  })
})
