import type { Policy, Step } from '../policies/policy.js'
import type { StoreError } from './store-error.js'

/**
 * A key and its policy. Policies of one kind may share a key. Each counts the units that it finds there.
 */
export interface KeyedPolicy {
  /** The complete key, of bounded length. A store uses it as it is. */
  readonly key: string
  readonly policy: Policy
}

/** What a charge takes from one key: `cost` whole units. Cost 0 is a peek. */
export interface Part extends KeyedPolicy {
  readonly cost: number
}

/** Returns parts whose denials no ban counts: the same list if there is no ban. */
export function uncountedParts<P extends Part>(parts: readonly P[]): readonly P[] {
  if (!parts.some(({ policy }) => policy.uncounted !== undefined)) return parts
  return parts.map((part) => ({ ...part, policy: part.policy.uncounted ?? part.policy }))
}

/** Takes all parts, or none if one is denied. Parts may name the same key. */
export interface Charge {
  readonly type: 'charge'
  readonly parts: readonly Part[]
}

/**
 * Takes whole `units` of a key, but at most those that are left and those that the policy's `debt` allows. A
 * ban does not count it as a denial. With 0 units, it only reads.
 */
export interface Take extends KeyedPolicy {
  readonly type: 'take'
  readonly units: number
}

/** Gives back what a charge took from one key, in the window in which it was taken. */
export interface Refund extends Part {
  readonly type: 'refund'
  readonly takenAtMs: number
  /** `takenAtMs` plus the part's `unitsAfterMs`, or `resetAfterMs`: when time would have restored the units. */
  readonly resetAtMs?: number
}

/**
 * Gives whole `units` back to a key, or as many as are taken, whenever they were taken. Does not end a ban.
 */
export interface Reward extends KeyedPolicy {
  readonly type: 'reward'
  readonly units: number
}

/**
 * Bans a key for `forMs`, at most the longest ban of its policy, which must be a `ban`. Does not shorten a
 * longer ban.
 */
export interface Block extends KeyedPolicy {
  readonly type: 'block'
  readonly forMs: number
}

/**
 * Holds units of `concurrency` as if taken now, including units that the state has lost. `takenAtMs` and
 * `resetAtMs` are as for a refund.
 */
export interface Renew extends Part {
  readonly type: 'renew'
  readonly takenAtMs: number
  readonly resetAtMs?: number
}

/** Removes the state of a key, as if it had never been charged. */
export interface Forget extends KeyedPolicy {
  readonly type: 'forget'
}

/**
 * What a store is asked to do, as data. For `concurrency`, a take or reward must be 0, and a release is a
 * refund.
 */
export type Operation = Charge | Take | Refund | Reward | Block | Renew | Forget

/** The figures of one part: a policy's step without the state. */
export interface PartResult extends Omit<Step, 'next'> {
  /**
   * When this part was taken or read, by the store's clock. Set if parts of a charge have different times,
   * such as on several servers. Default: the `atMs` of the charge.
   */
  readonly atMs?: number
}

/** The result of a `charge`. */
export interface ChargeResult {
  readonly type: 'charge'
  readonly allowed: boolean
  /** Set if a denial cache or a lease decided the charge. Absent if the store did. */
  readonly source?: 'deny-cache' | 'lease'
  /** Set if another charge may refund units and so end the denial early. */
  readonly isTentative?: true
  /**
   * When the charge was decided, by the store's clock, in milliseconds since the Unix epoch. Refunds need
   * it.
   */
  readonly atMs: number
  /**
   * The result of each part, in order. A denied charge takes nothing. Its parts have the figures as if
   * nothing had been charged, and `allowed` says whether the part alone would have been allowed.
   */
  readonly parts: readonly PartResult[]
}

/**
 * The figures of a key after an operation. Durations are in milliseconds from `atMs`. `Infinity` means
 * never.
 */
export interface Standing {
  /** When the operation was applied, by the store's clock, in milliseconds since the Unix epoch. */
  readonly atMs: number
  /** Units left: 0 during a ban. */
  readonly remaining: number
  /** The time until `remaining` grows. 0 if all units are left. */
  readonly moreAfterMs: number
  /** The time until all units are back. */
  readonly resetAfterMs: number
  /** The time until a ban ends. 0 if there is none. */
  readonly bannedForMs: number
  /** Units that were taken beyond the limit. Absent if none were. */
  readonly debt?: number
}

/** The result of a `take`. */
export interface TakeResult extends Standing {
  readonly type: 'take'
  /** The whole units that were taken: those of the operation, or fewer. */
  readonly taken: number
  /** As in the figures of a charge. */
  readonly unitsAfterMs?: number
}

/** The result of a `reward`. */
export interface RewardResult extends Standing {
  readonly type: 'reward'
}

/** The result of a `block`. */
export interface BlockResult extends Standing {
  readonly type: 'block'
}

/** The result of a `renew`. */
export interface RenewResult {
  readonly type: 'renew'
  /** When time alone frees the renewed units, by the store's clock. */
  readonly resetAtMs: number
}

/** The result of a `refund`. */
export interface RefundResult {
  readonly type: 'refund'
}

/** The result of a `forget`. */
export interface ForgetResult {
  readonly type: 'forget'
}

/** The result of an operation, with the same `type`. */
export type Result =
  | ChargeResult
  | TakeResult
  | RewardResult
  | BlockResult
  | RefundResult
  | RenewResult
  | ForgetResult

/** The result of one kind of operation. */
export type ResultOf<O extends Operation> = Extract<Result, { readonly type: O['type'] }>

/** The result of an operation, or why it alone failed. */
export type Outcome = Result | StoreError

/** Returns whether an outcome is a result of the operation's type rather than an error. */
export function isResultOf<O extends Operation>(operation: O, outcome: Outcome): outcome is ResultOf<O> {
  return !(outcome instanceof Error) && outcome.type === operation.type
}

/** Returns whether an operation may let a denied charge through. */
export function givesUnitsBack({ type }: Operation): boolean {
  return type === 'refund' || type === 'reward' || type === 'forget'
}

/** Returns how many keys an operation names. */
export function keyCount(operation: Operation): number {
  return operation.type === 'charge' ? operation.parts.length : 1
}

/**
 * Returns the keys that an operation reads or writes, with their policies.
 *
 * @example
 * ```ts
 * import { keysOf, type Operation } from 'headgate/store'
 *
 * // The keys that a store has to read and lock for a batch.
 * export function keysToLock(operations: readonly Operation[]): string[] {
 *   const keys = operations.flatMap(keysOf).map(({ key }) => key)
 *   return [...new Set(keys)].sort()
 * }
 * ```
 */
export function keysOf(operation: Operation): readonly KeyedPolicy[] {
  return operation.type === 'charge' ? operation.parts : [operation]
}

/** Returns the first key that an operation names; `''` if it names none. */
export function firstKeyOf(operation: Operation | undefined): string {
  const keyed = operation?.type === 'charge' ? operation.parts[0] : operation
  return keyed?.key ?? ''
}

/** Returns the part of a charge of one part; `undefined` of any other operation. */
export function onlyPartOf(operation: Operation | undefined): Part | undefined {
  return operation?.type === 'charge' && operation.parts.length === 1 ? operation.parts[0] : undefined
}
