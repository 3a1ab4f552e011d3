/**
 * A policy of src/policies in Lua: pieces of code for a function or a loop.
 *
 * `p` is the policy: its kind, how many numbers its state has, then its params. `state` is numbers, all 0
 * when fresh, and changes in place. Times are milliseconds since the Unix epoch. `may_owe` says whether a
 * take may go beyond the limit, up to the policy's debt. Code that runs for every key avoids function calls,
 * which cost more than the rest: x - x % 1 is floor(x), x + -x % 1 is ceil(x).
 */
export interface LuaPolicy {
  /**
   * Whether the params are for another time than `now`. If so, the script applies nothing, and replies with
   * only the time. Absent = they are for any time.
   */
  readonly outdated?: string
  /** Sets the locals that the other pieces read, from `p` and `now`. Runs once for many states. */
  readonly once: string
  /** Turns a fresh state into the policy's `blank`. `concurrency` has none. */
  readonly blank?: string
  /** `clampToNow`: converts the state to this policy's numbers. Sets `changed` if that changes it. */
  readonly clamp: string
  /** `take` of a clamped state and a `cost` above 0. Sets `allowed`, and `changed` with the state. */
  readonly take: string
  /** `refund` from `cost`, `taken_at` and `reset_at`, which may be nil. Sets `changed` and `is_fresh`. */
  readonly refund: string
  /**
   * Sets `left`: the most units that `take` with `may_owe` allows of a clamped state. `concurrency` has
   * none.
   */
  readonly left?: string
  /** `reward` of a clamped state by `cost` units. Sets `changed` and `is_fresh`. Not of `concurrency`. */
  readonly reward?: string
  /** Bans a clamped state for `ban` ms; only of a ban. */
  readonly block?: string
  /** `renew` of a clamped state from `cost`, `taken_at` and `reset_at`; only of a policy that has it. */
  readonly renew?: string
  /**
   * Sets `expires_at`, a time at which the state is fresh: rounded up to a sixteenth of a bucket's span or
   * to the end of a slice, so that most writes need not change the key's expiry. Reads the state's own
   * numbers, by which the key's present expiry was set. Sets `moves` if it also depends on the policy's
   * numbers: the key may then expire at another time than `expires_at`, and a write sets its expiry anew.
   */
  readonly expiry: string
  /** Set if states are stored without their trailing zeros: the least number of stored numbers. */
  readonly least?: number
  /**
   * Set if states may have more or fewer numbers than the policy's own: how many numbers a state has,
   * computed from its first numbers, such as `state[3] + 5`.
   */
  readonly length?: string
  /**
   * Whether states may have hundreds of numbers. Scripts then always read them as tables, and only if they
   * have as many numbers as `length` says. `clamp` keeps that number, and an allowed `take` changes it to
   * the policy's. Every write sets the key's expiry, because nearly every write changes it. Absent = false.
   */
  readonly isLog?: true
}

/**
 * `carryOver`: how many of the `units` in use under the state's limit are in use under this policy's limit.
 */
export function carryOver(units: string, oldLimit: string): string {
  const scaled = `ceil(${units} * limit / ${oldLimit} - 1e-9)`
  return `(scales and ${units} > 0 and ${oldLimit} ~= limit and ${oldLimit} > 0 and ${scaled} or ${units})`
}

/** `carryBack`: how many units a refund of `cost` returns to a state with another limit. */
export function carryBack(oldLimit: string): string {
  return `(scales and ${oldLimit} ~= limit and floor(cost * ${oldLimit} / limit + 1e-9) or cost)`
}
