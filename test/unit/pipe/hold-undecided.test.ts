import fc from 'fast-check'
import { ban, consecutive, memoryStore, type Policy, type Store, slidingLog, tokenBucket } from 'headgate'
import type { ChargeResult, Part } from 'headgate/store'
import { type HeldResult, holdUndecided } from '../../../src/pipe/hold-undecided.js'
import type { Pipe } from '../../../src/stores/shared/pipe.js'
import { request } from '../../../src/stores/shared/pipe.js'
import { pipeTo } from '../../../src/stores/shared/store-pipe.js'
import { figures } from '../../../src/testing/conformance/store-calls.js'
import { anyPolicy, costOf, takes, waitMs } from '../../properties/arbitrary-policies.js'

const START_MS = Date.UTC(2026, 0, 5, 12)

/** A store in memory with a manual clock, and its pipes with and without marks. */
function inMemory() {
  let nowMs = START_MS
  const store = memoryStore({ clock: () => nowMs })
  return {
    store,
    plain: pipeTo(store),
    held: holdUndecided(pipeTo(store)),
    advance(ms: number) {
      nowMs += ms
    },
  }
}

const charge = (pipe: Pipe, ...parts: Part[]) => request(pipe, { type: 'charge', parts }) as HeldResult // memory returns no promise

/** A result with its figures, without the states that a store in memory returns with them. */
const withFigures = (result: ChargeResult) => ({ ...result, parts: result.parts.map(figures) })
const part = (policy: Policy, cost = 1, key = '{ada}'): Part => ({ key, policy, cost })
const strict = (policy: Policy, after = 1) => ban(policy, { after, within: '1h', for: '1h' })
const HALF_HOUR = 1_800_000

test('without undecided units, every verdict is that of the store', () => {
  fc.assert(
    fc.property(anyPolicy, takes, ({ policy }, trace) => {
      const [one, other] = [inMemory(), inMemory()]
      for (const take of trace) {
        const ms = waitMs(policy, take)
        one.advance(ms)
        other.advance(ms)
        const asked = part(policy, costOf(policy, take))
        const { endUndecided, ...verdict } = charge(one.held, asked)
        endUndecided?.()
        expect(withFigures(verdict)).toEqual(withFigures(charge(other.plain, asked)))
      }
    }),
  )
})

test('nothing is left of the marks of requests whose outcome is known', () => {
  const { store, held } = inMemory()
  const [first, second] = [1, 2].map(() =>
    charge(held, part(tokenBucket({ capacity: 5, refill: 5, every: '1h' }))),
  )
  expect(store.size).toBe(2)
  first?.endUndecided?.()
  second?.endUndecided?.()
  expect(store.size).toBe(1)
})

test('marks end once, however often their request is said to be decided', () => {
  const { held } = inMemory()
  const asked = part(slidingLog({ limit: 2, window: '30m' }))
  const first = charge(held, asked)
  charge(held, asked) // never ends
  first.endUndecided?.()
  first.endUndecided?.()
  expect(charge(held, asked)).toMatchObject({ isUndecided: true })
})

describe('a denial that undecided units cause', () => {
  test.each<[string, Policy]>([
    ['a log', slidingLog({ limit: 2, window: '30m' })],
    ['failures in a row', consecutive({ limit: 2 })],
    ['a ban', strict(slidingLog({ limit: 2, window: '30m' }))],
  ])('names a second, and is not counted (%s)', (_, policy) => {
    const { held } = inMemory()
    charge(held, part(policy, 2))
    for (let i = 0; i < 50; i++)
      expect(charge(held, part(policy))).toMatchObject({
        isUndecided: true,
        isTentative: true,
        parts: [{ allowed: false, retryAfterMs: 1000, moreAfterMs: 1000 }],
      })
  })

  test('names less than a second if the limit has more by then', () => {
    const { held } = inMemory()
    const policy = tokenBucket({ capacity: 2, refill: 4, every: '1s' })
    charge(held, part(policy, 2))
    expect(charge(held, part(policy)).parts).toMatchObject([{ retryAfterMs: 250, moreAfterMs: 250 }])
  })

  test('is exact and counted once the units are decided', () => {
    const { held } = inMemory()
    const policy = strict(slidingLog({ limit: 2, window: '30m' }))
    const first = charge(held, part(policy, 2))
    charge(held, part(policy))
    first.endUndecided?.()
    const denial = charge(held, part(policy))
    expect(denial).not.toHaveProperty('isUndecided')
    expect(denial.parts).toMatchObject([{ allowed: false, isBanned: true, retryAfterMs: 2 * HALF_HOUR }])
  })

  test('is one of its own limit alone: another that denies is exact', () => {
    const { held } = inMemory()
    const undecided = part(strict(slidingLog({ limit: 2, window: '30m' })))
    const decided = part(slidingLog({ limit: 1, window: '30m' }), 1, '{grace}')
    charge(held, { ...undecided, cost: 2 })
    charge(held, decided).endUndecided?.()
    const denial = charge(held, undecided, decided)
    expect(denial).not.toHaveProperty('isUndecided')
    expect(denial.parts).toMatchObject([{ retryAfterMs: 1000 }, { retryAfterMs: HALF_HOUR }])
    expect(charge(held, undecided).parts).toMatchObject([{ retryAfterMs: 1000 }]) // and not banned
  })

  test('is none for a cost that never fits, nor during a ban', () => {
    const { held, plain } = inMemory()
    const policy = strict(slidingLog({ limit: 2, window: '30m' }), 2)
    charge(held, part(policy))
    expect(charge(held, part(policy, 3)).parts).toMatchObject([{ retryAfterMs: Number.POSITIVE_INFINITY }])
    request(plain, { type: 'block', forMs: HALF_HOUR, key: '{ada}', policy })
    const denial = charge(held, part(policy))
    expect(denial).not.toHaveProperty('isUndecided')
    expect(denial.parts).toMatchObject([{ isBanned: true, retryAfterMs: HALF_HOUR }])
  })

  test('during a ban that attempts restart, the attempt restarts it', () => {
    const { held, plain, advance } = inMemory()
    const rules = { after: 1, within: '1h', for: '30m', onAttempt: 'restart' } as const
    const policy = ban(slidingLog({ limit: 2, window: '30m' }), rules)
    request(plain, { type: 'block', forMs: HALF_HOUR, key: '{ada}', policy })
    advance(60_000)
    expect(charge(held, part(policy)).parts).toMatchObject([{ isBanned: true, retryAfterMs: HALF_HOUR }])
  })
})

describe('a slow request', () => {
  const policy = strict(slidingLog({ limit: 5, window: '30m' }), 5)

  test('excuses denials for no more than 15 seconds', () => {
    const { held, advance } = inMemory()
    charge(held, part(policy)) // never ends
    advance(15_000)
    for (let i = 0; i < 4; i++) charge(held, part(policy)).endUndecided?.()
    for (let i = 0; i < 4; i++) expect(charge(held, part(policy))).not.toHaveProperty('isUndecided')
    expect(charge(held, part(policy)).parts).toMatchObject([{ isBanned: true }])
  })

  test('excuses no more denials of failures than a client causes that waits as it is told', () => {
    const { held } = inMemory()
    charge(held, part(policy)) // never ends
    for (let i = 0; i < 4; i++) charge(held, part(policy)).endUndecided?.()
    const denials = Array.from({ length: 15 }, () => charge(held, part(policy)))
    expect(denials.slice(0, 14).map(({ parts }) => parts[0]?.isBanned)).toEqual(Array(14).fill(undefined))
    expect(denials[14]?.parts).toMatchObject([{ isBanned: true }])
  })

  test('does not excuse the next window of a short limit', () => {
    const { held, advance } = inMemory()
    const short = slidingLog({ limit: 2, window: '1s' })
    charge(held, part(short)) // never ends
    advance(1000)
    charge(held, part(short, 2)).endUndecided?.()
    expect(charge(held, part(short))).not.toHaveProperty('isUndecided')
  })
})

describe('if the store fails while a ban counts a denial,', () => {
  test('the denial stands', async () => {
    const { store } = inMemory()
    let calls = 0
    const failing: Store = {
      name: 'failing',
      async apply(operations) {
        if (calls++ === 2) throw new Error('connection lost')
        return store.apply(operations) as ChargeResult[]
      },
    }
    const pipe = holdUndecided(pipeTo(failing))
    const policy = strict(slidingLog({ limit: 1, window: '30m' }))
    const send = () => request(pipe, { type: 'charge', parts: [part(policy)] }) as Promise<HeldResult>
    const { endUndecided } = await send()
    calls = 0
    endUndecided?.()
    expect(await send()).toMatchObject({ allowed: false, parts: [{ retryAfterMs: HALF_HOUR }] })
  })
})
