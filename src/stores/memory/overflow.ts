import { type Policy, type State, signatureOf } from '../../policies/policy.js'
import { RecentMap } from '../../util/recent-map.js'

/** The state that new keys of one limit share while the store is full. */
export interface OverflowBucket {
  readonly key: string
  state: State | undefined
}

/** Buckets kept at least. Only policies made for each request need more; the oldest are dropped. */
const BUCKETS = 1000

/** The overflow buckets, one per limit. */
export class OverflowBuckets {
  readonly #buckets = new RecentMap<OverflowBucket>(BUCKETS)

  /** Returns the bucket whose own key this is. */
  get(bucketKey: string): OverflowBucket | undefined {
    return this.#buckets.get(bucketKey)
  }

  /** Returns the bucket that a key shares, if there is one. */
  find(key: string, policy: Policy): OverflowBucket | undefined {
    return this.#buckets.get(bucketKeyOf(key, policy))
  }

  /** Returns the bucket that a key shares, and makes it the most recently used one. */
  use(key: string, policy: Policy): OverflowBucket {
    const bucketKey = bucketKeyOf(key, policy)
    const bucket = this.#buckets.get(bucketKey) ?? { key: bucketKey, state: undefined }
    this.#buckets.set(bucketKey, bucket)
    return bucket
  }
}

/** A limit's keys are equal up to the brace. No key of a client begins with a NUL. */
function bucketKeyOf(key: string, policy: Policy): string {
  return `\0${key.slice(0, Math.max(0, key.indexOf('{')))}${signatureOf(policy)}`
}
