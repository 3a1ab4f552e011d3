import type { KeyFunction } from '../keys/key.js'
import type { Policy } from '../policies/policy.js'
import type { Store } from '../stores/store.js'
import type { StoreError } from '../stores/store-error.js'
import type { Duration } from '../util/durations.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import type { AccessOptions } from './access-rules.js'
import type { SettingsSource } from './settings-source.js'

/** What to do with a charge that the store could not decide. */
export type StoreErrorChoice = 'allow' | 'deny' | 'local'

/** A policy, or a function that returns one. If it returns `undefined`, its limit does not apply. */
type GivenPolicy<Subject> = Policy | ((subject: Subject) => MaybePromise<Policy | undefined>)

/** The options of one limit: the only one of a limiter, or one of several. */
interface LimitFields<Subject> {
  /** The name of this limit in headers, events and keys. Default: the policy's name. */
  name?: string
  /**
   * Identifies the client: a key, or several that are joined into one identity. Default `byIp()`.
   * `byUser()` identifies the user, or otherwise the address.
   */
  key?: KeyFunction<Subject> | readonly KeyFunction<Subject>[]
  /** The units that one charge takes, a whole number. Default 1; 0 takes nothing and is always allowed. */
  cost?: number | ((subject: Subject) => MaybePromise<number>)
}

/** How much is allowed in how much time. */
interface LimitNumbers {
  /** With `window`: a token bucket of this capacity that refills once per window. */
  limit: number
  /**
   * With `limit`: a string with its unit, such as `'15m'`, or milliseconds, at least 1000, because smaller
   * numbers look like seconds. Units come back evenly. To bring them all back at the end of each window,
   * write `policy: fixedWindow({ limit, window })`.
   */
  window: Duration
}

/**
 * One of several limits that are decided together, all or nothing. Give `limit` and `window`, or a `policy`.
 */
export type LimitOptions<Subject> = LimitFields<Subject> &
  (LimitNumbers | { policy: GivenPolicy<Subject>; limit?: never; window?: never })

/** Requires `window` beside `limit`, and `limit` beside `window`. */
export type LimitWithWindow = LimitNumbers | { limit?: never; window?: never }

/**
 * Limits to try. Like those of a limiter, they are given by `limit` and `window`, `policy`, or `limits`. A
 * limit without `key` or `cost` inherits it from the limit in force with the same name. If there is none,
 * it inherits from the first limit.
 */
export type CandidateOptions<Subject> = LimitWithWindow &
  Pick<LimiterFields<Subject>, 'policy' | 'key' | 'cost' | 'limits'>

/** The options of a limiter. Give `limit` and `window`, or a `policy`, or `limits`. */
export type LimiterOptions<Subject> = LimiterFields<Subject> & LimitWithWindow

/** Each option of a limiter. */
export interface LimiterFields<Subject> extends LimitFields<Subject>, Partial<LimitNumbers>, AccessOptions {
  /** Subjects for which it returns true are allowed, unlimited and uncounted. */
  skip?: (subject: Subject) => MaybePromise<boolean>
  /** A policy, or a function that returns one. If it returns `undefined`, the limit does not apply. */
  policy?: GivenPolicy<Subject>
  /** Several limits that are decided together: if one denies, none is charged. */
  limits?: readonly LimitOptions<Subject>[]
  /**
   * Limits to try beside those in force. They count as if they were the only limits, with their own keys,
   * and never deny a request. `limiter.candidateReport()` and the event `candidate` show what they would
   * have done. Key functions are called once more for them. They take no part in `waitFor` and `blockFor`.
   */
  candidate?: CandidateOptions<Subject>
  /**
   * The settings to follow, such as `sharedSettings(store)`. They have a document under the limiter's
   * `name`, which is required. The document can set limits, mode, candidate and overrides, and replaces
   * these options. `skip`, `allow` and `block` take precedence.
   */
  settings?: SettingsSource
  /** Where the states live: limiters share counts by sharing a store. Default: the limiter's own memory. */
  store?: Store
  /**
   * The name of the limiter in keys and headers. Limiters with the same name, prefix, policy and store share
   * their states. Only one limiter without a name may use a store. Stores on one client, or on one table of
   * a pool, count as one store here.
   */
  name?: string
  /** What every key starts with. Default `'hg'`. */
  prefix?: string
  /** Hashes identities in keys by HMAC-SHA-256, addresses included. At least 16 characters. */
  secret?: string
  /**
   * What to do when the store cannot decide: `'allow'` (the default); `'deny'` (middleware responds 503);
   * `'local'` (a fallback store in this process decides, with `fallbackShare` of the limits); or a function
   * that returns one of these.
   */
  onStoreError?: StoreErrorChoice | ((error: StoreError, subject: Subject) => MaybePromise<StoreErrorChoice>)
  /**
   * The share of each limit that the fallback store of this process grants: above 0, at most 1. With four
   * processes 1/4. Default 1.
   */
  fallbackShare?: number
  /**
   * The longest time that this process caches a denial from a remote store. A `forget` or a refund in
   * another process may take this long to apply here. Default `'1s'`, or `'100ms'` if `count` is not
   * `'all'`. `false` turns the cache off.
   */
  denyCache?: Duration | false
  /**
   * The longest time that a charge waits for the store, up to a minute. Default `'100ms'`. The time that
   * async option functions (`key`, `cost`, `policy`) take before the charge does not count.
   */
  timeout?: Duration
}
