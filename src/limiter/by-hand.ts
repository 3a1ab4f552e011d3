import type { Operation, Part } from '../stores/operation.js'
import { type Duration, durationMs, durationText } from '../util/durations.js'
import { catchMaybe, type MaybePromise, settleAll, thenMaybe } from '../util/maybe-promise.js'
import { adjustDecision, checkDecision, type Decision, type NamedPart } from './decision.js'
import type { Apply } from './ledger.js'
import { checkedCost, readNames } from './parse-limits.js'

/** Of several limits, those to change. */
export interface ByHandOptions {
  /** The names of the limits; only their keys are read. Default: all. A name of no limit is a `TypeError`. */
  readonly limits?: readonly string[]
}

/**
 * What a limiter changes by hand. Each limit is changed atomically, in every store; `forget` undoes it. A
 * subject is what `forget` takes: what the key functions read, or a decision. These methods throw or reject
 * with `TypeError` for wrong arguments, and with `StoreError` if the store failed: then the change may have
 * been made. If there is a local fallback, the change is also made there, except by `adjust`, which changes
 * a decision where its units were taken. Limits by `concurrency` stay as they are.
 */
export interface ByHand<Subject> {
  /** Takes units of each limit, or as many as are left. A ban does not count it as a denial. */
  penalize(
    subject: Subject | Record<string, unknown> | Decision,
    units: number,
    options?: ByHandOptions,
  ): MaybePromise<void>
  /** Gives units of each limit back, or as many as are taken, whenever they were taken. Ends no ban. */
  reward(
    subject: Subject | Record<string, unknown> | Decision,
    units: number,
    options?: ByHandOptions,
  ): MaybePromise<void>
  /**
   * Bans the subject from now on for `duration`, in those of its limits whose policy is a `ban`. Never
   * shortens a ban; only `forget` ends one. Throws a `TypeError` if no limit is a `ban`, or if `duration` is
   * longer than the longest one in its `for`.
   */
  blockFor(
    subject: Subject | Record<string, unknown> | Decision,
    duration: Duration,
    options?: ByHandOptions,
  ): MaybePromise<void>
  /**
   * Makes what an allowed decision took of each limit `actualCost`, when the cost is known only after the
   * response: refunds the difference, or takes it, as much as is left. May be called again; `refund` then
   * refunds what is taken in the end. Does nothing for a denial, for a peek, and once the decision was
   * refunded.
   *
   * After a failure you may call it again: units that it tried to take count as not taken, and units that it
   * tried to refund as refunded, if the outcome is unknown.
   */
  adjust(decision: Decision, actualCost: number, options?: ByHandOptions): MaybePromise<void>
}

/** An operation, but for its key. */
type Change = { type: 'take' | 'reward'; units: number } | { type: 'block'; forMs: number }

/** What changes by hand need of a limiter. */
interface Context {
  readonly owner: string
  /** The names of the limits, where they are known before a charge. */
  readonly limitNames: readonly string[] | undefined
  /** Applies an operation to the limiter's store. */
  readonly apply: Apply
  /** Returns the parts of a subject, or those of a decision. */
  readonly partsOf: (subject: unknown, names: readonly string[] | undefined) => MaybePromise<NamedPart[]>
  /** The local fallback, if the limiter has one. */
  readonly fallback:
    | {
        readonly apply: (operation: Operation) => void
        /** Gives parts the share of their limits that the fallback grants. */
        readonly scaled: (parts: readonly Part[]) => readonly Part[]
      }
    | undefined
}

/** Creates what a limiter changes by hand. */
export function changesByHand<Subject>(context: Context): ByHand<Subject> {
  const { owner, limitNames, apply, fallback } = context

  /** Returns the parts of a subject, of all limits or of those that are named. */
  function partsOf(subject: unknown, options: ByHandOptions | undefined): MaybePromise<NamedPart[]> {
    return context.partsOf(subject, readNames(owner, options, limitNames))
  }

  function applyToAll(parts: readonly NamedPart[], change: Change): MaybePromise<void> {
    const applyTo = (part: NamedPart) => {
      const changeLocally = (error: unknown) => {
        for (const local of fallback?.scaled([part]) ?? []) fallback?.apply(operationOn(local, change))
        throw error
      }
      return catchMaybe<unknown>(() => apply(operationOn(part, change)), changeLocally)
    }
    const rates = parts.filter(({ policy }) => !policy.holdsUnits) // its units are in use, and no score
    return settleAll(rates, applyTo)
  }

  return {
    penalize(subject, units, options) {
      const change = { type: 'take', units: checkedCost(owner, 'units', units) } as const
      return thenMaybe(partsOf(subject, options), (parts) => applyToAll(parts, change))
    },
    reward(subject, units, options) {
      const change = { type: 'reward', units: checkedCost(owner, 'units', units) } as const
      return thenMaybe(partsOf(subject, options), (parts) => applyToAll(parts, change))
    },
    blockFor(subject, duration, options) {
      const forMs = durationMs(owner, 'duration', duration)
      const change = { type: 'block', forMs } as const
      return thenMaybe(partsOf(subject, options), (parts) =>
        applyToAll(bansAmong(owner, parts, forMs), change),
      )
    },
    adjust(decision, actualCost, options) {
      checkDecision(owner, decision)
      const names = readNames(owner, options, limitNames)
      return adjustDecision(decision, checkedCost(owner, 'actualCost', actualCost), names)
    },
  }
}

/** Returns the operation that changes the key of a part. */
function operationOn({ key, policy }: Part, change: Change): Operation {
  return { ...change, key, policy }
}

/** Returns the parts whose policies are bans. Throws a `TypeError` where there are none, or bans so long. */
function bansAmong(owner: string, parts: readonly NamedPart[], banMs: number): readonly NamedPart[] {
  const bans = parts.filter(({ policy }) => policy.isBan)
  if (parts.length > 0 && bans.length === 0) {
    const fix = "Wrap the policy: ban(policy, { after: 10, within: '1m', for: '1h' })."
    throw new TypeError(`${owner}: blockFor needs a limit whose policy is a ban. ${fix}`)
  }
  for (const { name, policy } of bans) {
    const { longestBanMs = 0 } = policy
    if (banMs <= longestBanMs) continue
    const must = `at most the longest ban of the limit ${name}, ${durationText(longestBanMs)}`
    const fix = `Add '${durationText(banMs)}' to for of its ban.`
    throw new TypeError(`${owner}: duration must be ${must}, got ${durationText(banMs)}. ${fix}`)
  }
  return bans
}
