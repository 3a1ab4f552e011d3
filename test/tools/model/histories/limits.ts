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
  slidingWindow,
  tokenBucket,
} from 'headgate'
import type { Call } from './sequential.js'

/** A limit whose windows do not end while a history is recorded. */
export interface HotLimit {
  readonly policy: Policy
  /** How many denials start a ban. */
  readonly after: number
  /** The calls whose effect does not depend on the time since an earlier one. */
  readonly calls: readonly Call['type'][]
  /** Whether memcached keeps it as counters. */
  readonly isCounted: boolean
}

const LONG = '1000d'
const BASIC = ['charge', 'charge', 'charge', 'refund', 'refund', 'adjust', 'peek'] as const
const ALL = [...BASIC, 'penalize', 'reward', 'forget'] as const
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
 * The limits by name. A bucket loses fractions of a unit, and a window from the first request begins anew, if
 * units come back that are not those of a charge: so both have no rewards.
 */
export const LIMITS: Readonly<Record<string, HotLimit>> = {
  consecutive: limit(consecutive({ limit: 5 }), ALL, { isCounted: true }),
  fixed: limit(fixedWindow({ limit: 5, window: LONG }), ALL, { isCounted: true }),
  sliding: limit(slidingWindow({ limit: 4, window: LONG }), ALL, { isCounted: true }),
  bucket: limit(tokenBucket({ capacity: 4, refill: 4, every: LONG }), BASIC),
  first: limit(fixedWindow({ limit: 5, window: LONG, startsAt: 'first-request' }), BASIC),
  ban: limit(ban(four, { after: 3, within: LONG, for: LONG }), [...ALL, 'forget', 'block'], { after: 3 }),
  slots: limit(concurrency({ limit: 3, ttl: '100d' }), HELD),
}

export const LIMIT_NAMES = Object.keys(LIMITS)

/** A limit that no history reaches, whose count shows whether a charge was counted twice. */
export const COUNTED = 'counted'

/** What is called while connections are lost: no refund depends on the time at which it is sent again. */
export const FAULTY_NAMES = [COUNTED, 'consecutive', 'ban', 'slots']

const COUNTED_LIMIT = limit(consecutive({ limit: 1000 }), ['charge'], { isCounted: true })

/** Returns a limit by its name. */
export function limitNamed(name: string): HotLimit {
  const found = name === COUNTED ? COUNTED_LIMIT : LIMITS[name]
  if (found === undefined) throw new Error(`There is no limit ${name}.`)
  return found
}

/** Who calls, and why the store could not decide. */
export interface Subject {
  readonly identity: string
  error?: StoreError
}

/** Creates a limiter for each limit. Each decision is the store's, or the subject says why it is not. */
export function limitersOn(store: Store, timeoutMs: number): Readonly<Record<string, Limiter<Subject>>> {
  const create = (name: string) =>
    createLimiter({
      store,
      name,
      policy: limitNamed(name).policy,
      key: ({ identity }: Subject) => identity,
      timeoutMs,
      denyCache: false,
      onStoreError(error, subject) {
        subject.error = error
        return 'deny'
      },
    })
  return Object.fromEntries([...LIMIT_NAMES, COUNTED].map((name) => [name, create(name)]))
}
