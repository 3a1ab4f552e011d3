import type { KeyedOperations } from '../../pipe/by-key.js'
import type { Policy, State } from '../../policies/policy.js'
import { show } from '../../util/validate.js'
import { decisionTime } from '../builders/decision-time.js'
import { applyToState } from '../builders/swap-loop.js'
import type { Operation, Outcome } from '../operation.js'

/**
 * An entry of a log: the operation, and its time by the clock of the process. An entry for a charge also has
 * the number of such charges, and the further costs of a charge that names the key several times. Times that
 * are missing or infinite are texts.
 */
type Entry = readonly [type: Operation['type'], atMs: number, units: number, ...rest: (number | string)[]]

/**
 * Encodes operations on one key, in order. Equal charges in a row are one entry. Returns `undefined` if one
 * of the operations cannot be in a log, because it removes the key or only reads.
 */
export function encodeEntries(operations: readonly Operation[], atMs: number): string[] | undefined {
  const entries: string[] = []
  let charges = 0
  for (const [i, operation] of operations.entries()) {
    const next = operations[i + 1]
    if (operation.type === 'charge') {
      const costs = operation.parts.map(({ cost }) => cost)
      if (costs.every((cost) => cost === 0)) return undefined
      charges++
      if (next?.type === 'charge' && String(next.parts.map(({ cost }) => cost)) === String(costs)) continue
      entries.push(encodeCharges(atMs, charges, costs))
      charges = 0
    } else if (operation.type === 'refund' || operation.type === 'renew') {
      const { type, cost, takenAtMs, resetAtMs } = operation
      entries.push(encode([type, atMs, cost, takenAtMs, String(resetAtMs ?? '')]))
    } else if ((operation.type === 'take' || operation.type === 'reward') && operation.units > 0)
      entries.push(encode([operation.type, atMs, operation.units]))
    else return undefined
  }
  return entries
}

const encode = (entry: Entry): string => JSON.stringify(entry)

/** A charge at a whole number of ms, of 36 digits each: most items with a hundred of them have less than 1 KB. */
const SHORT = /^([0-9a-z]{8})(?: (\d+) (\d+))?$/

function encodeCharges(atMs: number, times: number, [cost = 0, ...further]: readonly number[]): string {
  const at = atMs.toString(36)
  const short = cost === 1 && times === 1 ? at : `${at} ${cost} ${times}`
  const isShort = further.length === 0 && SHORT.test(short)
  return isShort ? short : encode(['charge', atMs, cost, times, ...further])
}

function entryOf(text: string): Entry {
  const [, at, cost = 1, times = 1] = SHORT.exec(text) ?? []
  return at === undefined
    ? JSON.parse(text)
    : ['charge', Number.parseInt(at, 36), Number(cost), Number(times)]
}

/** Returns the operations of an entry, and their time. */
function decode(text: string, key: string, policy: Policy) {
  const [type, atMs, units, first = 0, ...rest]: Entry = entryOf(text)
  if (type === 'charge') {
    const parts = [units, ...rest].map((cost) => ({ key, policy, cost: Number(cost) }))
    const charge: Operation = { type, parts }
    return { atMs, operations: Array.from({ length: Number(first) }, () => charge) }
  }
  if (type === 'take' || type === 'reward') return { atMs, operations: [{ type, key, policy, units }] }
  if (type !== 'refund' && type !== 'renew') throw new TypeError(`there is no entry ${show(type)} in a log`)
  const [second = ''] = rest
  const reset = second === '' ? {} : { resetAtMs: Number(second) }
  const operation = { type, key, policy, cost: units, takenAtMs: Number(first), ...reset } as Operation
  return { atMs, operations: [operation] }
}

/** A state, and when the last operation in it was decided. */
export interface DecidedState {
  readonly state: State | undefined
  readonly atMs: number
}

/**
 * Applies the entries of a log to a state. All processes get the same state and outcomes, because these
 * depend only on what the item holds. No entry is decided at an earlier time than the one before, even if a
 * fold has put that into the state. `latest` are the outcomes of the last `count` entries.
 */
export function replay(
  { key, policy }: Pick<KeyedOperations, 'key' | 'policy'>,
  before: DecidedState,
  entries: readonly string[],
  count = 0,
): DecidedState & { readonly latest: readonly Outcome[] } {
  let { state, atMs: nowMs } = before
  const latest: Outcome[] = []
  for (const [i, entry] of entries.entries()) {
    const { atMs, operations } = decode(entry, key, policy)
    nowMs = decisionTime(policy, state, Math.max(nowMs, atMs))
    const applied = applyToState('dynamodb', { key, policy, operations }, state, false, nowMs)
    if (applied.write !== undefined) state = applied.write.state
    if (i >= entries.length - count) for (const outcome of applied.outcomes) latest.push(outcome)
  }
  return { state, latest, atMs: nowMs }
}
