import type { Operation, Part } from '../stores/operation.js'
import { type Duration, durationMs, durationText } from '../util/durations.js'
import { catchMaybe, type MaybePromise, settleAll, thenMaybe } from '../util/maybe-promise.js'
import { wrongUse } from '../util/validate.js'
import { adjustReceipt, refundReceipt } from './adjust-receipt.js'
import { resolveAdjusted } from './adjusted-parts.js'
import type { LimiterCore } from './core.js'
import { chargedParts, checkDecision, type Decision, receiptOf } from './decision.js'
import { readNames } from './named-limits.js'
import { checkedCost } from './read-limits.js'
import type { NamedPart } from './receipt.js'

/** Options of adjustments: which of the limits to change. */
export interface AdjustmentOptions {
  /**
   * The names of the limits to change, whose keys alone are read. Default: all. An unknown name is a
   * `TypeError`.
   */
  readonly limits?: readonly string[]
}

/**
 * What to adjust. It is a subject, an object with what the key functions read, or a decision, which stands
 * for the keys that it charged.
 */
export type Adjustable<Subject> = Subject | Record<string, unknown> | Decision

/**
 * Changes what limits have counted. Each limit is changed atomically, in every store.
 *
 * - **Errors.** These methods reject with `TypeError` for wrong arguments, and with `StoreError` if the store
 *   failed. The store may have made the change all the same.
 * - **Fallback store.** `adjust` and `refund` act where the units were taken: in the store, or in the
 *   fallback store. `forget` also applies to the fallback store. So do the other changes, if the store
 *   failed and `onStoreError` may choose the fallback store.
 * - **Concurrency.** Of these methods, only `forget` changes a `concurrency` limit.
 */
export interface Adjustments<Subject> {
  /**
   * Refunds the units that a decision took, once. A copy of the decision has no effect. With `limits`,
   * refunds only the units of these limits, and the rest stay taken. After a failure, the units may be back,
   * and cannot be refunded again. If the store could not be called, they are refunded later. To give back
   * the units of a `concurrency` limit, call `release`.
   */
  refund(decision: Decision, options?: AdjustmentOptions): Promise<void>
  /**
   * Forgets all that this subject's keys have used. Limits for which it has no key are left out, such as
   * those by address. The subject may be any object that has what the key functions read, such as
   * `{ body: { username: 'ada' } }` for `byField('username')`. Rejects if a key needs the IP address of a
   * request whose connection is closed. In that case, pass the decision.
   */
  forget(subject: Adjustable<Subject>, options?: AdjustmentOptions): Promise<void>
  /**
   * Takes units of each limit, but at most those that are left and those that its policy's `debt` allows. A
   * ban does not count this as a denial.
   */
  penalize(subject: Adjustable<Subject>, units: number, options?: AdjustmentOptions): Promise<void>
  /** Gives back up to `units` units of each limit, whenever they were taken. Does not end a ban. */
  reward(subject: Adjustable<Subject>, units: number, options?: AdjustmentOptions): Promise<void>
  /**
   * Bans the subject for `duration` from now on, in those of its limits whose policy is a `ban`. Never
   * shortens a ban. Only `forget` ends one. Rejects with a `TypeError` if no limit is a `ban`, or if
   * `duration` is longer than the longest ban in `for`.
   */
  blockFor(subject: Adjustable<Subject>, duration: Duration, options?: AdjustmentOptions): Promise<void>
  /**
   * Corrects the cost of an allowed decision to `actualCost`, if the cost is known only after the response.
   * Each limit refunds the difference, or takes it as far as units are left or the policy's `debt` allows. A
   * later `refund` returns everything that is then taken. Does nothing for a denial, for a peek, and after a
   * refund of the decision.
   *
   * You may call it several times, such as while you stream a response, and again after a failure. If the
   * outcome was unknown, units that it tried to take count as not taken, and units that it tried to refund
   * count as refunded.
   */
  adjust(decision: Decision, actualCost: number, options?: AdjustmentOptions): Promise<void>
}

/** Adjustments that act at once in memory, and return a promise only if there is something to await. */
export type DirectAdjustments<Subject> = {
  readonly [Name in keyof Adjustments<Subject>]: (
    ...given: Parameters<Adjustments<Subject>[Name]>
  ) => MaybePromise<void>
}

/** Returns adjustments for users, which always return promises. `inForce` returns those to make. */
export function promisedAdjustments<Subject>(
  inForce: () => DirectAdjustments<Subject>,
): Adjustments<Subject> {
  return {
    refund: async (...given) => inForce().refund(...given),
    forget: async (...given) => inForce().forget(...given),
    penalize: async (...given) => inForce().penalize(...given),
    reward: async (...given) => inForce().reward(...given),
    blockFor: async (...given) => inForce().blockFor(...given),
    adjust: async (...given) => inForce().adjust(...given),
  }
}

/** An operation without its key and policy. */
type Change = { type: 'take' | 'reward'; units: number } | { type: 'block'; forMs: number }

/**
 * Creates the adjustments of a limiter. `owner` is the function named in error messages. If `onStoreError`
 * may choose the local fallback, changes that the store could not make are made there.
 */
export function adjustmentsOf<Subject>(owner: string, core: LimiterCore): DirectAdjustments<Subject> {
  const { limitNames, apply, fallback } = core
  const { onStoreError } = core.settings
  const decidesLocally = onStoreError === 'local' || typeof onStoreError === 'function'

  /** Returns the parts of a subject, or those that a decision charged: of all limits, or of those named. */
  function partsOf(subject: unknown, options?: AdjustmentOptions): MaybePromise<readonly NamedPart[]> {
    const names = readNames(owner, options, limitNames)
    const charged = chargedParts(subject)?.filter(({ name }) => names?.includes(name) !== false)
    if (charged !== undefined) return charged
    const { resolveParts } = core.limits
    return names ? resolveParts(subject, 0, names) : resolveAdjusted(resolveParts, subject, limitNames)
  }

  function applyToAll(parts: readonly NamedPart[], change: Change): MaybePromise<void> {
    const counted = parts.filter(({ policy }) => !policy.holdsUnits) // units in use are released, not adjusted
    return settleAll(counted, (part) => {
      const changeLocallyAndRethrow = (error: unknown) => {
        if (decidesLocally)
          for (const share of fallback.scaleParts([part])) fallback.apply(operationOn(share, change))
        throw error
      }
      return catchMaybe<unknown>(() => apply(operationOn(part, change)), changeLocallyAndRethrow)
    })
  }

  function changeUnits(type: 'take' | 'reward'): DirectAdjustments<Subject>['penalize'] {
    return (subject, units, options) => {
      const change = { type, units: checkedCost(owner, 'units', units) }
      return thenMaybe(partsOf(subject, options), (parts) => applyToAll(parts, change))
    }
  }

  function forgetPart({ key, policy }: Part): MaybePromise<unknown> {
    const forget = { type: 'forget', key, policy } as const
    if (!fallback.isEmpty()) fallback.apply(forget)
    return apply(forget)
  }

  return {
    refund(decision, options) {
      checkDecision(owner, decision)
      return refundReceipt(receiptOf(decision), readNames(owner, options, limitNames))
    },
    forget: (subject, options) =>
      thenMaybe(partsOf(subject, options), (parts) => settleAll(parts, forgetPart)),
    penalize: changeUnits('take'),
    reward: changeUnits('reward'),
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
      return adjustReceipt(receiptOf(decision), checkedCost(owner, 'actualCost', actualCost), names)
    },
  }
}

/** Returns the operation that changes the key of a part. */
function operationOn({ key, policy }: Part, change: Change): Operation {
  return { ...change, key, policy }
}

/**
 * Returns the limits whose policies are bans. Throws a `TypeError` if there are none, or if `banMs`
 * exceeds the longest ban of one of them.
 */
export function bansAmong<L extends Pick<NamedPart, 'name' | 'policy'>>(
  owner: string,
  limits: readonly L[],
  banMs: number,
): readonly L[] {
  const bans = limits.filter(({ policy }) => policy.isBan)
  if (limits.length > 0 && bans.length === 0) {
    const fix = "Wrap the policy: ban(policy, { after: 10, within: '1m', for: '1h' })."
    throw wrongUse(owner, 'blockFor requires a limit whose policy is a ban', fix)
  }
  for (const { name, policy } of bans) {
    const { longestBanMs = 0 } = policy
    if (banMs <= longestBanMs) continue
    const ban = durationText(banMs)
    const must = `at most the longest ban of the limit ${name}, ${durationText(longestBanMs)}`
    throw wrongUse(
      owner,
      `duration must be ${must}, got ${ban}`,
      `Add '${ban}' to the for option of that ban.`,
    )
  }
  return bans
}
