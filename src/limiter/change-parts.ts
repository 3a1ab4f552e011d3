import type { Operation, Part } from '../stores/operation.js'
import { durationText } from '../util/durations.js'
import { catchMaybe, type MaybePromise, settleAll, thenMaybe } from '../util/maybe-promise.js'
import { wrongUse } from '../util/validate.js'
import { resolveAdjusted } from './adjusted-parts.js'
import type { LimiterCore } from './core.js'
import { chargedParts } from './decision.js'
import type { NamedPart } from './receipt.js'

/** An operation without its key and policy. */
export type Change = { type: 'take' | 'reward'; units: number } | { type: 'block'; forMs: number }

/**
 * Calls `use` with the parts of a subject, or with those that a decision charged. `names` restricts them to
 * those limits.
 */
export function withParts(
  { limits, limitNames }: LimiterCore,
  subject: unknown,
  names: readonly string[] | undefined,
  use: (parts: readonly NamedPart[]) => MaybePromise<void>,
): MaybePromise<void> {
  const charged = chargedParts(subject)?.filter(({ name }) => names?.includes(name) !== false)
  if (charged !== undefined) return use(charged)
  const { resolveParts } = limits
  const resolved = names
    ? resolveParts(subject, 0, names)
    : resolveAdjusted(resolveParts, subject, limitNames)
  return thenMaybe(resolved, use)
}

/**
 * Makes a change to each part. If the store could not make it, and `onStoreError` may choose the fallback
 * store, makes it there.
 */
export function changeParts(
  { apply, fallback, settings: { onStoreError } }: LimiterCore,
  parts: readonly NamedPart[],
  change: Change,
): MaybePromise<void> {
  const decidesLocally = onStoreError === 'local' || typeof onStoreError === 'function'
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

/** Deletes what each part has used, also in the fallback store. */
export function forgetParts(
  { apply, fallback }: LimiterCore,
  parts: readonly NamedPart[],
): MaybePromise<void> {
  return settleAll(parts, ({ key, policy }) => {
    const forget = { type: 'forget', key, policy } as const
    if (!fallback.isEmpty()) fallback.apply(forget)
    return apply(forget)
  })
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
