import { isBan, longestBanMs } from '../../policies/ban.js'
import { isConcurrency } from '../../policies/concurrency.js'
import { show } from '../../util/validate.js'
import type { Block, Operation, Reward, Take } from '../operation.js'
import type { Charge, Refund, Store } from '../store.js'
import type { Read } from './evaluate-charge.js'

/** Returns whether a value has the methods of a store. */
export function isStore(value: unknown): value is Store {
  const { name, charge, refund, forget } = (value ?? {}) as Partial<Store>
  return typeof name === 'string' && [charge, refund, forget].every((method) => typeof method === 'function')
}

/** Throws a `TypeError` for an invalid cost, which would fail a whole batch. */
export function checkCosts(owner: string, charge: Charge): void {
  for (const { cost } of charge) checkUnits(owner, 'a cost', cost)
}

/** Throws a `TypeError` for a refund with an invalid cost or time. */
export function checkRefunds(owner: string, refunds: readonly Refund[]): void {
  for (const refund of refunds) {
    checkUnits(owner, 'a cost', refund.cost)
    if (Number.isFinite(refund.takenAtMs)) continue
    throw new TypeError(`${owner}: takenAtMs must be a time in milliseconds, got ${show(refund.takenAtMs)}.`)
  }
}

/** Throws a `TypeError` for an invalid operation, which would fail a whole batch, or one that does not fit its policy. */
export function checkOperations(owner: string, operations: readonly Operation[]): void {
  for (const operation of operations) {
    if (operation.type === 'block') checkBlock(owner, operation)
    else checkChange(owner, operation)
  }
}

function checkBlock(owner: string, { policy, forMs }: Block): void {
  if (!isBan(policy))
    throw new TypeError(
      `${owner}: only a ban blocks, got a policy of kind ${show(policy.kind)}. Use ban(policy, …).`,
    )
  if (Number.isFinite(forMs) && forMs >= 0 && forMs <= longestBanMs(policy)) return
  const must = `a time in milliseconds of at most the longest ban, ${longestBanMs(policy)}`
  throw new TypeError(`${owner}: forMs must be ${must}, got ${show(forMs)}.`)
}

function checkChange(owner: string, { type, policy, units }: Take | Reward): void {
  if (type !== 'take' && type !== 'reward')
    throw new TypeError(`${owner}: type must be 'take', 'reward' or 'block', got ${show(type)}.`)
  checkUnits(owner, 'units', units)
  if (units === 0 || !isConcurrency(policy)) return
  throw new TypeError(`${owner}: units of concurrency are in use. Only read them, by a take of 0.`)
}

/** Throws a `TypeError` for a time that is not finite, at which a policy would allow everything. */
export function checkTime(owner: string, nowMs: unknown): void {
  if (Number.isFinite(nowMs)) return
  const must = 'a finite number of milliseconds since the Unix epoch'
  throw new TypeError(`${owner}: the time must be ${must}, got ${show(nowMs)}.`)
}

/** Returns a `read` that throws a `TypeError` in place of returning what is no state of the policy. */
export function checkedRead(owner: string, read: Read): Read {
  return (key, policy) => {
    const state: unknown = read(key, policy)
    if (state === undefined) return undefined
    const isState = Array.isArray(state) && state.length === policy.width && state.every(Number.isFinite)
    if (isState) return state
    const must = `undefined, or an array of ${policy.width} finite numbers`
    throw new TypeError(`${owner}: read must return ${must}, got ${showRead(state)}`)
  }
}

function showRead(value: unknown): string {
  const isPromise = typeof (value as Partial<PromiseLike<unknown>> | null)?.then === 'function'
  if (isPromise) return `a promise. Await the states first, and have read return them from a Map.`
  if (value === null) return 'null. Return undefined for a key that has no state.'
  return `${Array.isArray(value) ? `[${value.map(show).join(', ').slice(0, 60)}]` : show(value)}.`
}

function checkUnits(owner: string, name: string, units: number): void {
  if (Number.isSafeInteger(units) && units >= 0) return
  throw new TypeError(`${owner}: ${name} must be a whole number of at least 0, got ${show(units)}.`)
}
