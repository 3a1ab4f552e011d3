import type { KeyFunction } from '../keys/key-types.js'
import type { Policy } from '../policies/policy.js'
import type { Store } from '../stores/store.js'
import type { StoreError } from '../stores/store-error.js'
import type { Duration } from '../util/durations.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import type { AccessOptions } from './access-rules.js'
import type { CandidateLimits } from './candidate-source.js'
import type { SettingsSource } from './settings-source.js'

/** What to do with a charge that the store could not decide. */
export type StoreErrorChoice = 'allow' | 'deny' | 'local'

/** A policy, or a function that returns one for each subject. */
type GivenPolicy<Subject> = Policy | ((subject: Subject) => MaybePromise<Policy>)

/** The options of one limit: the only one of a limiter, or one of several. */
interface LimitFields<Subject> {
  /** The name of this limit in headers, events and keys. Default: the policy's name. */
  name?: string
  /**
   * The key function that identifies the client, or several whose results are joined into one identity.
   * Default `byIp()`. `byUser()` identifies the user, or otherwise the address. A request for which it returns
   * `undefined` or `null` is limited by its address.
   */
  key?: KeyFunction<Subject> | readonly KeyFunction<Subject>[]
  /**
   * The units that one charge takes, or a function that returns them. A whole number. Default 1. With 0, a
   * charge takes nothing and is always allowed.
   */
  cost?: number | ((subject: Subject) => MaybePromise<number>)
}

/** How much is allowed in how much time. */
interface LimitNumbers {
  /**
   * How many units a client may take at once. They come back evenly over `window`, as in a token bucket of
   * this capacity. Requires `window`.
   */
  limit: number
  /**
   * The time in which `limit` units come back: a string such as `'15m'`, or milliseconds, at least 1000,
   * because smaller numbers look like seconds. Units come back evenly. To bring them all back at the end of
   * each window, write `policy: fixedWindow({ limit, window })`.
   */
  window: Duration
}

/**
 * One of several limits that are decided together, all or nothing. Give `limit` and `window`, or a `policy`.
 */
export type LimitOptions<Subject> = LimitFields<Subject> & {
  /** Returns whether this limit does not apply to a subject. The other limits still do. */
  skip?: (subject: Subject) => MaybePromise<boolean>
} & (LimitNumbers | { policy: GivenPolicy<Subject>; limit?: never; window?: never })

/** Requires both `limit` and `window`, or neither. */
export type LimitWithWindow = LimitNumbers | { limit?: never; window?: never }

/**
 * Limits to try without enforcing them. Like those of a limiter, they are given by `limit` and `window`,
 * `policy`, or `limits`. A limit without `key`, `cost` or `skip` inherits it from the limit in force with the same
 * name. If there is none, it inherits from the first limit.
 */
export type CandidateOptions<Subject> = LimitWithWindow &
  Pick<LimiterFields<Subject>, 'policy' | 'key' | 'cost' | 'limits'>

/** The options of a limiter. Give `limit` and `window`, or a `policy`, or `limits`. */
export type LimiterOptions<Subject> = LimiterFields<Subject> & LimitWithWindow

/** Each option of a limiter. */
export interface LimiterFields<Subject> extends LimitFields<Subject>, Partial<LimitNumbers>, AccessOptions {
  /**
   * Returns whether a subject is exempt: allowed, unlimited and uncounted. Falsy values exempt none. Truthy
   * values other than `true` are a `TypeError`.
   */
  skip?: (subject: Subject) => MaybePromise<boolean>
  /**
   * The policy of the limit, in place of `limit` and `window`, or a function that returns one. If it returns
   * anything else, such as `undefined`, the charge throws a `TypeError`.
   */
  policy?: GivenPolicy<Subject>
  /** Several limits that are decided together: if one denies, none is charged. */
  limits?: readonly LimitOptions<Subject>[]
  /**
   * Limits to try without enforcing them. They count with their own keys, as if they were the only limits.
   * `limiter.candidateReport()` and the event `candidate` show what they would have done. Key functions are
   * called once more for them. They take no part in `waitFor` and `blockFor`.
   */
  candidate?: CandidateLimits<Subject>
  /**
   * The settings to follow while the limiter runs, such as `sharedSettings(store)`. They have a document
   * under the limiter's `name`, which is required. The document can set limits, mode, candidate and
   * overrides, and replaces these options. `skip`, `allow` and `block` take precedence.
   */
  settings?: SettingsSource
  /** Where counts are kept. Limiters share counts by sharing a store. Default: the limiter's own memory. */
  store?: Store
  /**
   * The name of the limiter in keys and headers. Limiters with the same name, prefix and store share the counts
   * of policies of one kind. Only one limiter without a name may use a store. Stores on one client, or on one table of
   * a pool, count as one store here.
   */
  name?: string
  /** The start of every key in the store. Default `'hg'`. */
  prefix?: string
  /**
   * A secret for hashing identities in keys by HMAC-SHA-256, including IP addresses. At least 16 characters.
   */
  secret?: string
  /**
   * What to do if the store cannot decide: `'allow'`, `'deny'`, `'local'`, or a function that returns one of
   * these. Default `'local'`.
   *
   * - `'local'`: a fallback store in this process decides, with `fallbackShare` of the limits.
   * - `'allow'`: requests pass without a limit.
   * - `'deny'`: middleware responds with 503.
   */
  onStoreError?: StoreErrorChoice | ((error: StoreError, subject: Subject) => MaybePromise<StoreErrorChoice>)
  /**
   * The share of each limit that the fallback store of this process grants, above 0 and at most 1. With four
   * processes, write 1/4. Default 1.
   */
  fallbackShare?: number
  /**
   * The longest time for which this process caches a denial of a remote store. Default `'1s'`, or `'100ms'`
   * if `count` is not `'all'`. `false` turns the cache off. A `forget` or a refund in another process may
   * take this long to apply here.
   */
  denyCache?: Duration | false
  /**
   * The longest time that a charge waits for the store, up to a minute. Default `'100ms'`, or the
   * store's own `defaultTimeoutMs`. It does not include the time that async option functions (`key`, `cost`,
   * `policy`) take before the charge.
   */
  timeout?: Duration
}
