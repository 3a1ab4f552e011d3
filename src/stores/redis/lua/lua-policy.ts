/**
 * A policy of src/policies in Lua: pieces of code for a function or a loop.
 *
 * `p` is the policy: its kind, how many numbers its state has, then its params. `state` is numbers, all 0
 * when fresh, and changes in place. Times are milliseconds since the Unix epoch. `may_owe` says whether a take
 * may go beyond the limit, up to the policy's debt. Code that runs for every key avoids function calls, which
 * cost more than the rest: x - x % 1 is floor(x), x + -x % 1 is ceil(x).
 */
export interface LuaPolicy {
  /**
   * Whether the params hold for another time than `now`. Then the script applies nothing, and replies with the
   * time alone. Absent = they hold at any time.
   */
  readonly outdated?: string
  /** Sets the locals that the other pieces read, from `p` and `now`. Runs once for many states. */
  readonly once: string
  /** Gives a fresh state this policy's numbers, the policy's `blank`. Not of `concurrency`. */
  readonly blank?: string
  /** `clampToNow`: gives the state this policy's numbers, and sets `changed` if that changes it. */
  readonly clamp: string
  /** `take` of a clamped state and a `cost` above 0. Sets `allowed`, and `changed` with the state. */
  readonly take: string
  /** `refund` from `cost`, `taken_at` and `reset_at`, which may be nil. Sets `changed` and `is_fresh`. */
  readonly refund: string
  /** Sets `left`: how many whole units `take` with `may_owe` would allow of a clamped state. Not of `concurrency`. */
  readonly left?: string
  /** `reward` of a clamped state by `cost` units. Sets `changed` and `is_fresh`. Not of `concurrency`. */
  readonly reward?: string
  /** Bans a clamped state for `ban` ms; only of a ban. */
  readonly block?: string
  /** `renew` of a clamped state from `cost`, `taken_at` and `reset_at`; only of a policy that has it. */
  readonly renew?: string
  /**
   * Sets `expires_at`, a time at which the state is fresh: rounded up to a sixteenth of a bucket's span or
   * to the end of a slice, so that most writes need not change the key's expiry. Reads the state's own numbers,
   * by which the key's present expiry was set.
   */
  readonly expiry: string
  /** Of a policy whose states are stored without their last zeros: how many numbers are stored at least. */
  readonly least?: number
  /**
   * Of a policy whose states may have more or fewer numbers than its own: how many numbers a state has, by
   * its first ones, such as `state[3] + 5`.
   */
  readonly length?: string
  /**
   * Whether states may have hundreds of numbers, so that scripts only read them as tables, and only if they
   * have as many numbers as `length` says. `clamp` keeps how many there are, and an allowed `take` gives
   * the state the policy's. Nearly all writes change the key's expiry, so it is always set. Absent = false.
   */
  readonly isLog?: true
}

/** How many units of `units` in use under the state's limit are in use under this policy's: `carryOver`. */
export function carryOver(units: string, oldLimit: string): string {
  const scaled = `ceil(${units} * limit / ${oldLimit} - 1e-9)`
  return `(scales and ${units} > 0 and ${oldLimit} ~= limit and ${oldLimit} > 0 and ${scaled} or ${units})`
}

/** How many units a refund of `cost` gives back to a state of another limit: `carryBack`. */
export function carryBack(oldLimit: string): string {
  return `(scales and ${oldLimit} ~= limit and floor(cost * ${oldLimit} / limit + 1e-9) or cost)`
}
