import {
  ban,
  concurrency,
  consecutive,
  fixedWindow,
  type Policy,
  quota,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import type { Call } from './sequential.js'

/** What a limit allows. */
export interface Numbers {
  readonly policy: Policy
  /** How many denials start a ban; 0 for other policies. */
  readonly after: number
}

/** A limit whose windows do not end while a history is recorded. */
export interface HotLimit extends Numbers {
  /** Smaller numbers, under which some callers use the same keys, as during a rolling deployment. */
  readonly older: Numbers
  /** The calls whose effect does not depend on the time since an earlier one. */
  readonly calls: readonly Call['type'][]
  /** Whether memcached keeps it as counters. */
  readonly isCounted: boolean
  /** Whether it is leased. Then only its bound is checked, since units lie unused in processes. */
  readonly isLeased?: true
  /** Names of the limits that a charge takes together. `policy` is that of the first. */
  readonly together?: readonly string[]
}

const LONG = '1000d'
/** The windows of the older numbers, which do not end either, and the longest ban that both have. */
export const HALF = '500d'
const BASIC = ['charge', 'charge', 'charge', 'refund', 'refund', 'adjust', 'peek'] as const
const ALL = [...BASIC, 'penalize', 'reward', 'forget'] as const
const LEASED_CALLS = ['charge', 'charge', 'charge', 'charge', 'charge', 'refund', 'peek'] as const
const UNREFUNDED = ['charge', 'charge', 'charge', 'charge', 'peek', 'penalize', 'reward', 'forget'] as const
const HELD = ['charge', 'charge', 'refund', 'refund', 'peek'] as const

const COUNTED_KIND = { isCounted: true }
const FIRST = { startsAt: 'first-request' } as const
const YEAR = { per: 'year', timeZone: 'UTC' } as const

function limit(
  policy: Policy,
  older: Policy,
  calls: HotLimit['calls'],
  { isCounted = false } = {},
): HotLimit {
  return { policy, after: 0, older: { policy: older, after: 0 }, calls, isCounted }
}

const banAfter = (after: number, limit: number, time: string): Numbers => ({
  policy: ban(fixedWindow({ limit, window: time }), { after, within: time, for: time }),
  after,
})

/**
 * The limits by name. If units come back that are not those of a charge, a bucket loses fractions of a unit, a
 * window from the first request begins anew, and a log has none left for the refund of that charge: so these
 * three have no rewards. A refund to a bucket that was refilled at two rates loses such fractions as well, so
 * `rate` has none. On memcached, another window has a counter of its own, so the windows of `fixed` are equal.
 */
export const LIMITS: Readonly<Record<string, HotLimit>> = {
  consecutive: limit(consecutive({ limit: 5 }), consecutive({ limit: 3 }), ALL, COUNTED_KIND),
  fixed: limit(
    fixedWindow({ limit: 5, window: LONG }),
    fixedWindow({ limit: 3, window: LONG }),
    ALL,
    COUNTED_KIND,
  ),
  sliding: limit(
    slidingWindow({ limit: 4, window: LONG }),
    slidingWindow({ limit: 3, window: LONG }),
    ALL,
    COUNTED_KIND,
  ),
  bucket: limit(
    tokenBucket({ capacity: 4, refill: 4, every: LONG }),
    tokenBucket({ capacity: 2, refill: 2, every: HALF }),
    BASIC,
  ),
  rate: limit(
    tokenBucket({ capacity: 4, refill: 4, every: LONG }),
    tokenBucket({ capacity: 3, refill: 1, every: HALF }),
    UNREFUNDED,
  ),
  log: limit(slidingLog({ limit: 5, window: LONG }), slidingLog({ limit: 3, window: HALF }), BASIC),
  first: limit(
    fixedWindow({ limit: 5, window: LONG, ...FIRST }),
    fixedWindow({ limit: 3, window: HALF, ...FIRST }),
    BASIC,
  ),
  quota: limit(quota({ limit: 5, ...YEAR }), quota({ limit: 3, ...YEAR, startsOn: '07-01' }), ALL),
  ban: {
    ...banAfter(3, 4, LONG),
    older: banAfter(2, 3, HALF),
    calls: [...ALL, 'forget', 'block'],
    isCounted: false,
  },
  slots: limit(concurrency({ limit: 3, ttl: '100d' }), concurrency({ limit: 2, ttl: '100d' }), HELD),
}

export const LIMIT_NAMES = Object.keys(LIMITS)

const TOGETHER = ['fixed', 'consecutive', 'ban']

/** A limiter whose charges take several keys, all or none. */
const SEVERAL: Readonly<Record<string, HotLimit>> = {
  several: {
    ...(LIMITS.fixed as HotLimit),
    calls: ['charge', 'charge', 'charge', 'refund'],
    together: TOGETHER,
  },
}

export const SEVERAL_NAMES = Object.keys(SEVERAL)

const UNITS = 192 // three processes lease four units at a time

const leasedLimit = (policyOf: (units: number) => Policy, calls: HotLimit['calls']): HotLimit => ({
  ...limit(policyOf(UNITS), policyOf(UNITS - 12), calls),
  isLeased: true,
})

/** Limits that are leased. Refunds to a bucket may admit more units (`docs/hot-keys.md`), so it has none. */
const LEASED: Readonly<Record<string, HotLimit>> = {
  'leased-fixed': leasedLimit((limit) => fixedWindow({ limit, window: LONG }), LEASED_CALLS),
  'leased-sliding': leasedLimit((limit) => slidingWindow({ limit, window: LONG }), LEASED_CALLS),
  'leased-bucket': leasedLimit(
    (units) => tokenBucket({ capacity: units, refill: units, every: LONG }),
    ['charge', 'peek'],
  ),
}

export const LEASED_NAMES = Object.keys(LEASED)

/** A limit that no history reaches, whose count shows whether a charge was counted twice. */
export const COUNTED = 'counted'

/** What is called while connections are lost: no refund depends on the time at which it is sent again. */
export const FAULTY_NAMES = [COUNTED, 'consecutive', 'ban', 'slots']

const COUNTED_LIMIT = limit(
  consecutive({ limit: 1000 }),
  consecutive({ limit: 500 }),
  ['charge'],
  COUNTED_KIND,
)

const EVERY: Readonly<Record<string, HotLimit>> = {
  ...LIMITS,
  ...SEVERAL,
  ...LEASED,
  [COUNTED]: COUNTED_LIMIT,
}

export const EVERY_NAME = Object.keys(EVERY)

/** Returns a limit by its name. */
export function limitNamed(name: string): HotLimit {
  const found = EVERY[name]
  if (found === undefined) throw new Error(`There is no limit ${name}.`)
  return found
}
