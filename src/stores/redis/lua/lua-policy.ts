/**
 * A policy of src/policies in Lua: pieces of code for a function or a loop.
 *
 * `p` is the policy: its kind, how many numbers its state has, then its params. `state` is numbers, all 0
 * when fresh, and changes in place. Times are milliseconds since the Unix epoch. Code that runs for every
 * key avoids function calls, which cost more than the rest: x - x % 1 is floor(x), x + -x % 1 is ceil(x).
 */
export interface LuaPolicy {
  /** Sets the locals that the other pieces read, from `p` and `now`. Runs once for many states. */
  readonly once: string
  /** `clampToNow`: changes the state, and sets `changed`, if a clock that was ahead wrote it. */
  readonly clamp: string
  /** `take` of a clamped state and a `cost` above 0. Sets `allowed`, and `changed` with the state. */
  readonly take: string
  /** `refund` from `cost`, `taken_at` and `reset_at`, which may be nil. Sets `changed` and `is_fresh`. */
  readonly refund: string
  /** Sets `left`: how many whole units `take` would allow of a clamped state. Not of `concurrency`. */
  readonly left?: string
  /** `reward` of a clamped state by `cost` units. Sets `changed` and `is_fresh`. Not of `concurrency`. */
  readonly reward?: string
  /** Bans a clamped state for `ban` ms; only of a ban. */
  readonly block?: string
  /** `renew` of a clamped state from `cost`, `taken_at` and `reset_at`; only of a policy that has it. */
  readonly renew?: string
  /**
   * Sets `expires_at`, a time at which the state is fresh: rounded up to a sixteenth of a bucket's span or
   * to the end of a slice, so that most writes need not change the key's expiry.
   */
  readonly expiry: string
}
