import type { State } from '../../policies/policy.js'
import { isPromise } from '../../util/maybe-promise.js'
import { show } from '../../util/validate.js'
import type { Operation, Outcome, Result } from '../operation.js'
import { StoreError } from '../store-error.js'
import { applyBatch, type ReadState } from './apply-batch.js'
import { checkOperations } from './run-operations.js'
import { foreignKeyError, isStateOf } from './state-codec.js'
import { type StateWrite, stateWrite } from './state-write.js'
import { checkTime } from './validate.js'

/**
 * Applies operations to the states of their keys, and returns the outcomes and the states to write. It
 * returns at most one state for each key.
 *
 * The function is pure. A store reads the states of the keys (`keysOf`), calls it with the time of its
 * clock, and writes the states. It does so in one atomic step, which may be repeated from the start.
 *
 * If `read` throws a `StoreError` for a key, that error is the outcome of every operation that needs the
 * key. The other operations still apply. A state whose length is not the policy's `width` is treated the
 * same way: it belongs to another policy.
 *
 * Throws a `TypeError` for an invalid operation, such as a cost that is not a whole number of at least 0,
 * and for one that does not fit its policy. Also throws one for a time that is not finite, and if `read`
 * returns neither `undefined` nor an array of finite numbers, such as a promise. Rethrows any other error of
 * `read`.
 *
 * @example
 * ```ts
 * import { applyOperations, customStore } from 'headgate/store'
 *
 * const states = new Map<string, readonly number[]>()
 * export const mapStore = customStore({
 *   name: 'map',
 *   apply(operations) {
 *     const read = (key: string) => states.get(key)
 *     const { outcomes, writes } = applyOperations(operations, read, Date.now())
 *     for (const { key, state } of writes) {
 *       if (state) states.set(key, state)
 *       else states.delete(key)
 *     }
 *     return outcomes
 *   },
 * })
 * ```
 */
export function applyOperations(
  operations: readonly Operation[],
  read: ReadState,
  nowMs: number,
): { readonly outcomes: readonly Outcome[]; readonly writes: readonly StateWrite[] } {
  checkOperations('applyOperations', operations)
  checkTime('applyOperations', nowMs)
  const reads = new Map<string, { readonly state?: State | undefined; readonly error?: unknown }>()
  const readChecked = checkedRead('applyOperations', read)
  const readOnce: ReadState = (key, policy) => {
    const readResult = reads.get(key) ?? attempt(() => readChecked(key, policy))
    reads.set(key, readResult)
    if ('error' in readResult) throw readResult.error
    return readResult.state
  }
  const { results, writes } = applyBatch(operations, readOnce, nowMs)
  if (!results.every(isOutcome)) throw results.find((result) => !isOutcome(result))
  const changed = Array.from(writes).filter(([key, { state }]) => {
    const readResult = reads.get(key) // none if the key was forgotten unread
    return readResult === undefined || 'error' in readResult || state !== readResult.state
  })
  return { outcomes: results, writes: changed.map(([key, write]) => stateWrite(key, write, nowMs)) }
}

function isOutcome(result: Result | Error): result is Outcome {
  return !(result instanceof Error) || result instanceof StoreError
}

function attempt(read: () => State | undefined) {
  try {
    return { state: read() }
  } catch (error) {
    return { error }
  }
}

/**
 * Returns a `read` that throws a `StoreError` for a state whose length is not the policy's `width`, and a
 * `TypeError` for a value that is not a state.
 */
function checkedRead(owner: string, read: ReadState): ReadState {
  return (key, policy) => {
    const state: unknown = read(key, policy)
    if (state === undefined || isStateOf(policy, state)) return state
    const isOther = Array.isArray(state) && state.length > 0 && state.every(Number.isFinite)
    if (isOther) throw foreignKeyError('store', key)
    const must = `undefined, or an array of ${policy.width} finite numbers`
    throw new TypeError(`${owner}: read must return ${must}, got ${showRead(state)}`)
  }
}

function showRead(value: unknown): string {
  if (isPromise(value)) return `a promise. Await the states first, and have read return them from a Map.`
  if (value === null) return 'null. Return undefined for a key that has no state.'
  return `${Array.isArray(value) ? `[${value.map(show).join(', ').slice(0, 60)}]` : show(value)}.`
}
