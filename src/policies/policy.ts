import type { Prepaid } from './prepaid.js'

/** What a store keeps for one key: a few numbers, laid out by the policy. `undefined` stands for a fresh state. */
export type State = readonly number[]

/** What a policy says to one charge of one key. All times are milliseconds from the `nowMs` that was given. */
export interface Step {
  /** Whether `cost` units could be taken. Always true for cost 0, which is a peek. */
  readonly allowed: boolean
  /** Whole units that are left after this step. */
  readonly remaining: number
  /** Until the state equals a fresh one, if nothing more is taken. 0 = fresh now, `Infinity` = not by itself. */
  readonly resetAfterMs: number
  /** Until the same cost is allowed: exact, 0 when allowed, `Infinity` when time alone will never allow it. */
  readonly retryAfterMs: number
  /** Until `remaining` grows by at least one. 0 when nothing is missing, `Infinity` when time gives nothing back. */
  readonly moreAfterMs: number
  /** Set on a denial that counts: the next one may be denied for longer. A ban counts denials. */
  readonly isCounted?: true
  /** The state to keep; `undefined` or absent when the state stays as it is. */
  readonly next?: State | undefined
}

/** The kinds of policies that stand for themselves. */
export type BaseKind = 'token-bucket' | 'sliding-window' | 'fixed-window' | 'consecutive'

/**
 * An algorithm with its numbers: frozen, pure, without a clock. Time is an argument, in milliseconds since the Unix
 * epoch, as a double. Every policy keeps these rules:
 *
 * 1. A denial takes nothing, and cost 0 is a peek that writes nothing. (Two writes can come with a denial: `ban` counts it, and
 *    a state from a clock that was ahead is put right, else it would lock its owner out until the clock is there again.)
 * 2. The cost admitted in any true window of time is at most what the policy's documentation promises.
 * 3. `retryAfterMs` is exact: the same cost is denied 1 ms before it and allowed at it.
 * 4. A cost above `limit` can never be allowed: `retryAfterMs` is `Infinity`.
 * 5. A clock that goes backwards grants nothing, and one that was ahead and came back locks nobody out for longer than
 *    the policy's documentation says.
 * 6. A state whose `resetAfterMs` is 0 may be dropped without changing any decision.
 * 7. Rates are kept within 0.2 % over the long run. A factory refuses numbers for which they would not be.
 */
export interface Policy {
  readonly kind: BaseKind | `ban-${BaseKind}`
  /** For headers and keys. The default tells the numbers, such as `100-in-1min`. */
  readonly name: string
  /** The largest cost that can ever be taken at once. */
  readonly limit: number
  /** The time over which `limit` applies. `Infinity` = it never resets by itself. */
  readonly windowMs: number
  /** How many numbers a state has. All of them 0 make a fresh one, too. */
  readonly width: number
  /** All that a step depends on, in the order that a script reads it. */
  readonly params: readonly number[]
  /** Takes `cost` whole units at `nowMs`. Never changes `state`; what is to be kept comes back as `next`. */
  take(state: State | undefined, nowMs: number, cost: number): Step
  /**
   * Gives back `cost` units that were taken at `takenAtMs`, never beyond a fresh state and never into another window.
   * Returns the state to keep: the same object when nothing changes, `undefined` when it is fresh again.
   * `resetAtMs` is when the state would have been fresh again after that taking, as the step said; left out, it is taken
   * that the state was fresh before.
   */
  refund(state: State, nowMs: number, cost: number, takenAtMs: number, resetAtMs?: number): State | undefined
  /** How units of it are held that are taken ahead of their use; absent where they cannot be. */
  readonly prepaid?: Prepaid | undefined
  /**
   * Returns a policy of its own, with a share of this one's limit, at least 1, in the same window. Throws a
   * `TypeError` where rule 7 could not be kept.
   */
  scaled(share: number): Policy
}

/** A share of a limit, in whole units, and at least one. What rounding leaves below a whole number is one. */
export function shareOf(limit: number, share: number): number {
  return Math.max(1, Math.floor(limit * share + 1e-9))
}

const signatures = new WeakMap<Policy, string>()

/** All that a policy's decisions depend on. */
export function signatureOf(policy: Policy): string {
  const known = signatures.get(policy)
  if (known !== undefined) return known
  const signature = [policy.kind, ...policy.params].join('-')
  signatures.set(policy, signature)
  return signature
}

/** Whether two policies decide alike, though they may be two objects. */
export function isSamePolicy(a: Policy, b: Policy): boolean {
  if (a === b) return true
  const isAlike = a.kind === b.kind && a.params.length === b.params.length
  return isAlike && a.params.every((value, i) => value === b.params[i])
}

/** Whether a value can serve as a policy, for checks of what a user's function returned. */
export function isPolicy(value: unknown): value is Policy {
  const policy = value as Partial<Policy> | null | undefined
  return (
    typeof policy === 'object' &&
    policy !== null &&
    typeof policy.take === 'function' &&
    typeof policy.refund === 'function' &&
    typeof policy.scaled === 'function' &&
    Array.isArray(policy.params) &&
    Number.isInteger(policy.width)
  )
}
