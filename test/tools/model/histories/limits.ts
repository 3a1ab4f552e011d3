import {
  ban,
  concurrency,
  consecutive,
  createLimiter,
  fixedWindow,
  type Limiter,
  type Policy,
  type Store,
  type StoreError,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import type { LimiterFields } from '../../../../src/limiter/options.js'
import type { Call, Costs } from './sequential.js'

/** A limit whose windows do not end while a history is recorded. */
export interface HotLimit {
  readonly policy: Policy
  /** How many denials start a ban. */
  readonly after: number
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
const BASIC = ['charge', 'charge', 'charge', 'refund', 'refund', 'adjust', 'peek'] as const
const ALL = [...BASIC, 'penalize', 'reward', 'forget'] as const
const LEASED_CALLS = ['charge', 'charge', 'charge', 'charge', 'charge', 'refund', 'peek'] as const
const HELD = ['charge', 'charge', 'refund', 'refund', 'peek'] as const

function limit(
  policy: Policy,
  calls: HotLimit['calls'],
  { after = 0, isCounted = false }: Partial<Pick<HotLimit, 'after' | 'isCounted'>> = {},
): HotLimit {
  return { policy, calls, after, isCounted }
}

const four = fixedWindow({ limit: 4, window: LONG })

/**
 * The limits by name. If units come back that are not those of a charge, a bucket loses fractions of a unit, a
 * window from the first request begins anew, and a log has none left for the refund of that charge: so these
 * three have no rewards.
 */
export const LIMITS: Readonly<Record<string, HotLimit>> = {
  consecutive: limit(consecutive({ limit: 5 }), ALL, { isCounted: true }),
  fixed: limit(fixedWindow({ limit: 5, window: LONG }), ALL, { isCounted: true }),
  sliding: limit(slidingWindow({ limit: 4, window: LONG }), ALL, { isCounted: true }),
  bucket: limit(tokenBucket({ capacity: 4, refill: 4, every: LONG }), BASIC),
  log: limit(slidingLog({ limit: 5, window: LONG }), BASIC),
  first: limit(fixedWindow({ limit: 5, window: LONG, startsAt: 'first-request' }), BASIC),
  ban: limit(ban(four, { after: 3, within: LONG, for: LONG }), [...ALL, 'forget', 'block'], { after: 3 }),
  slots: limit(concurrency({ limit: 3, ttl: '100d' }), HELD),
}

export const LIMIT_NAMES = Object.keys(LIMITS)

const TOGETHER = ['fixed', 'consecutive', 'ban']

/** A limiter whose charges take several keys, all or none. */
const SEVERAL: Readonly<Record<string, HotLimit>> = {
  several: {
    ...limit(fixedWindow({ limit: 5, window: LONG }), ['charge', 'charge', 'charge', 'refund']),
    together: TOGETHER,
  },
}

export const SEVERAL_NAMES = Object.keys(SEVERAL)

const UNITS = 192 // three processes lease four units at a time

const leasedLimit = (policy: Policy, calls: HotLimit['calls']): HotLimit => ({
  ...limit(policy, calls),
  isLeased: true,
})

/** Limits that are leased. Refunds to a bucket may admit more units (`docs/hot-keys.md`), so it has none. */
const LEASED: Readonly<Record<string, HotLimit>> = {
  'leased-fixed': leasedLimit(fixedWindow({ limit: UNITS, window: LONG }), LEASED_CALLS),
  'leased-sliding': leasedLimit(slidingWindow({ limit: UNITS, window: LONG }), LEASED_CALLS),
  'leased-bucket': leasedLimit(tokenBucket({ capacity: UNITS, refill: UNITS, every: LONG }), [
    'charge',
    'peek',
  ]),
}

export const LEASED_NAMES = Object.keys(LEASED)

/** A limit that no history reaches, whose count shows whether a charge was counted twice. */
export const COUNTED = 'counted'

/** What is called while connections are lost: no refund depends on the time at which it is sent again. */
export const FAULTY_NAMES = [COUNTED, 'consecutive', 'ban', 'slots']

const COUNTED_LIMIT = limit(consecutive({ limit: 1000 }), ['charge'], { isCounted: true })

const EVERY: Readonly<Record<string, HotLimit>> = {
  ...LIMITS,
  ...SEVERAL,
  ...LEASED,
  [COUNTED]: COUNTED_LIMIT,
}

/** Returns a limit by its name. */
export function limitNamed(name: string): HotLimit {
  const found = EVERY[name]
  if (found === undefined) throw new Error(`There is no limit ${name}.`)
  return found
}

/** Who calls, and why the store could not decide. */
export interface Subject {
  readonly identity: string
  /** What a charge of several keys takes, by the names of their limits. */
  readonly costs?: Costs | undefined
  error?: StoreError
}

/** Creates a limiter for each limit. Each decision is the store's, or the subject says why it is not. */
export function limitersOn(store: Store, timeoutMs: number): Readonly<Record<string, Limiter<Subject>>> {
  const create = (name: string) =>
    createLimiter({
      store,
      name,
      ...limitsOf(limitNamed(name)),
      timeout: `${timeoutMs}ms`,
      denyCache: false,
      onStoreError(error, subject) {
        subject.error = error
        return 'deny'
      },
    })
  return Object.fromEntries(Object.keys(EVERY).map((name) => [name, create(name)]))
}

const key = ({ identity }: Subject) => identity

function limitsOf({ policy, together }: HotLimit): Pick<LimiterFields<Subject>, 'policy' | 'key' | 'limits'> {
  if (together === undefined) return { policy, key }
  const limits = together.map((name) => ({
    name,
    policy: () => limitNamed(name).policy,
    skip: ({ costs }: Subject) => costs?.[name] === undefined,
    cost: ({ costs }: Subject) => costs?.[name] ?? 0,
    key,
  }))
  return { limits }
}
