import type { KeyFunction } from '../keys/key.js'
import type { Policy } from '../policies/policy.js'
import type { LeaseOptions } from '../resilience/lease/options.js'
import type { Store } from '../stores/store.js'
import type { StoreError } from '../stores/store-error.js'
import type { Duration } from '../util/durations.js'
import type { MaybePromise } from '../util/maybe-promise.js'

/** What to do with a charge that the store could not decide. */
export type StoreErrorChoice = 'allow' | 'deny' | 'local'

/** One of several limits that are decided together, all or nothing. */
export interface LimitOptions<Subject> {
  /** What headers, events and keys call this limit. Default: the policy's name. */
  name?: string
  /** A policy, or a function that gives one; `undefined` from it = not limited by this limit. */
  policy: Policy | ((subject: Subject) => MaybePromise<Policy | undefined>)
  /** Who is asking: a key maker, or an array of them joined into one identity. Default `byIp()`, for requests. */
  key?: KeyFunction<Subject> | readonly KeyFunction<Subject>[]
  /** What one charge takes, in whole units. Default 1; 0 only looks. */
  cost?: number | ((subject: Subject) => MaybePromise<number>)
}

/** How a limiter is made. Give `limit` and `window`, or a `policy`, or `limits`. */
export interface LimiterOptions<Subject> extends Omit<LimitOptions<Subject>, 'policy'> {
  /** With `window`: a token bucket of this capacity that refills once per window. */
  limit?: number
  /**
   * With `limit`: a string with its unit, such as `'15m'`, or milliseconds, at least 1000: smaller numbers
   * look like seconds.
   */
  window?: Duration
  policy?: LimitOptions<Subject>['policy']
  /** Several limits, decided together: if one denies, none is charged. */
  limits?: readonly LimitOptions<Subject>[]
  /** Where the states live. Default: this process's memory. */
  store?: Store
  /**
   * Names the limiter in keys and headers. Limiters of the same name (and prefix, and policy) on the same store share
   * their state; without a `store`, named limiters share one memory store. An unnamed limiter is alone on its store.
   */
  name?: string
  /** What every key begins with. Default `'hg'`. */
  prefix?: string
  /** Makes the hashes of identities in keys HMAC-SHA-256, addresses included. At least 16 characters. */
  secret?: string
  /**
   * What to do when the store cannot decide: `'allow'` (the default), `'deny'` (the middleware answers 503), `'local'` (this process
   * decides in its memory, by its `share` of each limit), or a function that returns one of these.
   */
  onStoreError?: StoreErrorChoice | ((error: StoreError, subject: Subject) => MaybePromise<StoreErrorChoice>)
  /**
   * With `onStoreError: 'local'`: the part of each limit that this process may admit while the store is down, above 0, at most 1.
   * With four processes 1/4. Default 1.
   */
  share?: number
  /**
   * The longest that a denial by a remote store is answered from this process's memory, before the store is asked again; it never is once
   * the same cost is allowed again. So it is how long another process's `forget` or refund may take to count here. Default `'1s'`, and
   * `'100ms'` where units are given back as a rule (`count`); `false` = the store is always asked.
   */
  denyCache?: Duration | false
  /**
   * Takes units of a key that is charged often from a shared store in blocks, before they are used, and hands them out in this process. Up
   * to a sixteenth of the limit may lie unused for a moment, of a slow token bucket an eighth. Never more than the limit is admitted; only
   * where a token bucket is given units back by `refund`, up to a sixteenth more. `{}` for the defaults. For a limiter of one limit. Default: off.
   */
  lease?: LeaseOptions
  /**
   * The longest that a charge waits for the store, in milliseconds since the limiter got it. Default 100.
   * Async functions among the options (`key`, `cost`, `policy`) use up that time as well, but are not
   * bounded by it: a charge waits for them as long as they take. Where they leave less than a quarter of
   * `timeoutMs`, the store is given a quarter all the same.
   */
  timeoutMs?: number
}
