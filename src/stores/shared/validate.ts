import { isBan } from '../../policies/ban.js'
import { isConcurrency } from '../../policies/concurrency.js'
import { show } from '../../util/validate.js'
import type { Operation } from '../operation.js'
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

/** Throws a `TypeError` for an operation with invalid numbers, or that its policy does not know. */
export function checkOperations(owner: string, operations: readonly Operation[]): void {
  for (const operation of operations) {
    const { type, policy } = operation
    if (type !== 'block') checkUnits(owner, 'units', operation.units)
    else if (!(operation.forMs >= 0)) checkUnits(owner, 'forMs', operation.forMs)
    const isKnown = type === 'block' ? isBan(policy) : operation.units === 0 || !isConcurrency(policy)
    if (!isKnown)
      throw new TypeError(`${owner}: ${show(type)} is not for a policy of kind ${show(policy.kind)}.`)
  }
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
