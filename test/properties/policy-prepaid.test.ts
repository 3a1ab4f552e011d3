import fc from 'fast-check'
import { ban, consecutive, fixedWindow, type Policy, quota, slidingWindow, tokenBucket } from 'headgate'
import type { State } from 'headgate/store'
import { prepaidOf } from '../../src/policies/prepaid.js'
import {
  allThatIsLeft,
  inPeriods,
  isFromFirstRequest,
  moment,
  shareUpTo,
  stateAfter,
  timedPolicy,
} from './arbitrary-policies.js'

/** Units that a process took before it uses them. */
interface PrepaidUnits {
  readonly units: number
  readonly takenAtMs: number
  readonly resetAtMs: number
}

/**
 * What some process does next, and how long after the last act. Shares are of the limit, or of what it
 * holds.
 */
const act = fc.record({
  who: fc.nat({ max: 3 }),
  does: fc.constantFrom('prepay', 'use', 'use', 'returnUnits', 'charge', 'chargeAll'),
  share: fc.double({ min: 0.01, max: 1, noNaN: true }),
  waitShare: fc.oneof(fc.constant(0), shareUpTo(0.15), shareUpTo(1)),
})
type Act = typeof act extends fc.Arbitrary<infer Value> ? Value : never
const acts = fc.array(act, { minLength: 1, maxLength: 80, size: 'max' })

/** Processes that prepay units of one key, and the same uses charged to the policy at the moments of use. */
class World {
  readonly held = new Map<number, PrepaidUnits>()
  store: State | undefined
  used: State | undefined
  /** How many units each use took that the policy denied. */
  readonly denied: number[] = []

  constructor(
    readonly policy: Policy,
    public nowMs: number,
    readonly largest: number,
    readonly holdMs: number,
  ) {}

  act({ who, does, share, waitShare }: Act, unitMs: number): void {
    this.nowMs += waitShare * unitMs
    if (does === 'prepay') this.prepay(who, Math.max(1, Math.round(share * this.largest)))
    else if (does === 'use') this.use(who, share)
    else if (does === 'returnUnits') this.returnUnits(who)
    else this.charge(does === 'charge' ? share : 1)
  }

  prepay(who: number, units: number): void {
    if (this.usableBy(who) > 0 || units > this.largest) return
    // A lease sends a charge with each request for units, and so a window begins with the charge.
    if (isFromFirstRequest(this.policy)) this.chargeUnits(Math.min(1, this.left()))
    const { allowed, next, resetAfterMs } = this.policy.take(this.store, this.nowMs, units)
    if (!allowed) return
    this.store = stateAfter(this.store, next)
    this.held.set(who, { units, takenAtMs: this.nowMs, resetAtMs: this.nowMs + resetAfterMs })
  }

  use(who: number, share: number): void {
    const usable = this.usableBy(who)
    const units = Math.ceil(share * usable)
    if (units === 0) return
    this.charged(units)
    this.held.set(who, { ...(this.held.get(who) as PrepaidUnits), units: usable - units })
  }

  usableBy(who: number): number {
    const held = this.held.get(who)
    if (held === undefined || this.nowMs >= held.takenAtMs + this.holdMs) return 0
    return prepaidOf(this.policy)?.usable(held.units, this.nowMs, held.takenAtMs, held.resetAtMs) ?? 0
  }

  /** Units that are not returned are dropped. */
  returnUnits(who: number): void {
    const held = this.held.get(who)
    if (held === undefined) return
    this.held.delete(who)
    const { units, takenAtMs, resetAtMs } = held
    const cost = prepaidOf(this.policy)?.returnable(units, this.nowMs, this.holdMs, resetAtMs) ?? 0
    if (this.store && cost > 0)
      this.store = this.policy.refund(this.store, this.nowMs, cost, takenAtMs, resetAtMs)
  }

  /** Units that are used at once. */
  charge(share: number): void {
    this.chargeUnits(Math.floor(share * this.left()))
  }

  left(): number {
    return allThatIsLeft(this.policy, this.store, this.nowMs)
  }

  chargeUnits(units: number): void {
    if (units === 0) return
    this.store = stateAfter(this.store, this.policy.take(this.store, this.nowMs, units).next)
    this.charged(units)
  }

  charged(units: number): void {
    const { allowed, next } = this.policy.take(this.used, this.nowMs, units)
    if (!allowed) this.denied.push(units)
    this.used = stateAfter(this.used, next)
  }
}

test('the policy would have admitted every use of prepaid units at its moment, however many are held', () => {
  fc.assert(
    fc.property(fc.oneof(timedPolicy, inPeriods), moment, acts, ({ policy }, startMs, trace) => {
      const world = new World(policy, startMs, policy.limit, Number.POSITIVE_INFINITY)
      for (const each of trace) {
        // A bucket may not take that many back.
        if (each.does !== 'returnUnits' || policy.spec.kind !== 'token-bucket')
          world.act(each, policy.windowMs)
      }
      expect(world.denied).toEqual([])
    }),
    { numRuns: 1000 },
  )
})

const large = fc
  .record({ limit: fc.integer({ min: 64, max: 400 }), window: fc.integer({ min: 100, max: 10_000 }) })
  .chain(({ limit, window }) =>
    fc.constantFrom<Policy>(
      tokenBucket({ capacity: limit, refill: limit, every: `${window}ms` }),
      slidingWindow({ limit, window: `${window}ms` }),
      fixedWindow({ limit, window: `${window}ms` }),
      fixedWindow({ limit, window: `${window}ms`, startsAt: 'first-request' }),
      quota({ limit, per: 'day', timeZone: 'Antarctica/Troll' }),
    ),
  )

test('prepaid blocks of a sixteenth of the limit may be returned at any moment without admitting more', () => {
  fc.assert(
    fc.property(
      large,
      moment,
      acts,
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      (policy, startMs, trace, hold) => {
        const world = new World(policy, startMs, policy.limit / 64, hold * policy.windowMs)
        for (const each of trace) world.act(each, policy.windowMs / 4)
        expect(world.denied).toEqual([])
      },
    ),
    { numRuns: 1000 },
  )
})

test('prepaid units of a full bucket expire as it is refilled, so they never count twice', () => {
  const bucket = tokenBucket({ capacity: 10, refill: 1, every: 1000 })
  const usableAt = (ms: number) => prepaidOf(bucket)?.usable(10, ms, 0, 10_000)
  expect([0, 1, 1000, 1001, 9000, 9001, 10_000].map(usableAt)).toEqual([10, 9, 9, 8, 1, 0, 0])
})

test('a bucket that misses many units takes all prepaid ones back, and one that misses few takes none', () => {
  const prepaid = prepaidOf(tokenBucket({ capacity: 160, refill: 160, every: 160_000 }))
  expect(prepaid?.returnable(5, 0, 100, 30_000)).toBe(5)
  expect(prepaid?.returnable(5, 0, 100, 23_000)).toBe(2)
  expect(prepaid?.returnable(5, 0, 100, 20_100)).toBe(0)
})

test('prepaid units of a window may be used in the slice that counted them', () => {
  const prepaid = prepaidOf(slidingWindow({ limit: 10, window: '10s', slices: 10 }))
  expect([1000, 1999.9, 2000].map((ms) => prepaid?.usable(3, ms, 1000, 11_000))).toEqual([3, 3, 0])
  const fixed = prepaidOf(fixedWindow({ limit: 10, window: '10s' }))
  expect([0, 9999.9, 10_000].map((ms) => fixed?.usable(3, ms, 1000, 10_000))).toEqual([3, 3, 0])
})

test('prepaid units of a window from the first request may be used and returned until it ends', () => {
  const prepaid = prepaidOf(fixedWindow({ limit: 10, window: '10s', startsAt: 'first-request' }))
  const times = [2000, 11_999.9, 12_000]
  expect(times.map((ms) => prepaid?.usable(3, ms, 2000, 12_000))).toEqual([3, 3, 0])
  expect(times.map((ms) => prepaid?.returnable(3, ms, 5000, 12_000))).toEqual([3, 3, 0])
})

test('policies that count failures or denials have no prepaid units', () => {
  const window = fixedWindow({ limit: 10, window: '10s' })
  const none = [consecutive({ limit: 3 }), ban(window, { after: 3, within: '1m', for: '1h' })]
  expect(none.map(prepaidOf)).toEqual([undefined, undefined])
  expect(prepaidOf(window.scale(0.5))).toBeDefined()
})
