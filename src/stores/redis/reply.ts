import type { State } from '../../policies/policy.js'
import { showKind } from '../../util/validate.js'
import { type Charge, keysOf, type Outcome } from '../operation.js'
import { applyBatch, evaluateCharge, FORGOTTEN, type KeyOperation } from '../shared/apply-batch.js'
import { foreignKeyError } from '../shared/state-codec.js'
import { asStoreError, StoreError } from '../store-error.js'
import { commandError } from './errors.js'
import type { ScriptCall } from './script-call.js'
import { NUMBER_BYTES, stateAt, stateIn } from './stored-state.js'

/** What a script has read and done. */
interface Reading {
  /** The store's name in errors. */
  readonly store: string
  readonly atMs: number
  /** The state of each key before its operation. `undefined` for a fresh one, `null` for a foreign key. */
  readonly states: readonly (State | undefined | null)[]
  /** Why the server refused to write, if it did. Then nothing was written. */
  readonly refusal: StoreError | undefined
}

/** Returns the server's time in the reply to a call whose periods did not reach it; `undefined` in others. */
export function timeAlone(reply: readonly unknown[]): number | undefined {
  const [time] = reply
  return reply.length === 1 ? numberIn(time) : undefined
}

/** Returns the error with which the server refused to write, as the reply to a call says; '' for none. */
export function refusalIn(reply: unknown): string {
  return Array.isArray(reply) ? String(reply[1] ?? '') : ''
}

/**
 * Returns the outcome of each operation of a call. A reply has the states before the operations, from which
 * the policies in TypeScript compute the outcomes. They decide as the script did, by the same states and
 * time. So a script spends no time on figures. Throws a `StoreError` for a malformed reply.
 */
export function outcomesIn(reply: unknown, call: ScriptCall): readonly Outcome[] {
  const { operations, script } = call
  if (script === undefined) return operations.map(() => FORGOTTEN)
  const reading = Array.isArray(reply) ? readList(reply, call) : readString(reply, call)
  const outcomes: Outcome[] = new Array(operations.length)
  let place = 0
  for (const [i, operation] of operations.entries()) {
    if (operation.type !== 'charge')
      outcomes[i] = operationOutcome(operation, reading.states[place++], reading)
    else {
      outcomes[i] = chargeOutcome(operation, place, reading)
      place += operation.parts.length
    }
  }
  return outcomes
}

/** Reads a reply in which each state has its policy's width. */
function readString(reply: unknown, { store, operations, policies }: ScriptCall): Reading {
  let length = 0
  for (const { width = 0 } of policies) length += NUMBER_BYTES * (width + 1)
  length *= operations.length
  if (!isBytes(reply) || reply.length !== length + NUMBER_BYTES) throw malformedError(store, reply)
  const numbers = new DataView(reply.buffer, reply.byteOffset, reply.length)
  const states: (State | undefined)[] = new Array(operations.length * policies.length)
  let place = 0
  for (let at = 0; at < length; )
    for (const { width = 0 } of policies) {
      states[place++] = stateAt(numbers, at, width)
      at += NUMBER_BYTES * (width + 1)
    }
  return { store, atMs: numbers.getFloat64(length, true), states, refusal: undefined }
}

/** Reads a reply that has each state apart: foreign keys, states of any length, or a refusal to write. */
function readList(reply: readonly unknown[], { store, operations }: ScriptCall): Reading {
  const [time, , ...items] = reply
  const keyCount = operations.flatMap(keysOf).length
  const atMs = numberIn(time)
  if (atMs === undefined || items.length !== keyCount || !items.every(isState))
    throw malformedError(store, reply)
  const message = refusalIn(reply)
  return {
    store,
    atMs,
    states: items.map((item) => (isBytes(item) ? stateIn(item) : null)),
    refusal: message === '' ? undefined : commandError(store, new Error(message)),
  }
}

/** Returns the only number in some bytes, or `undefined` for any other value. */
function numberIn(bytes: unknown): number | undefined {
  if (!isBytes(bytes) || bytes.length !== NUMBER_BYTES) return undefined
  return new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0, true)
}

/** Returns whether a value is bytes, such as a `Buffer`. */
function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) // of any realm: test runners give modules their own
}

/** Returns whether an item is a state, or what stands for a foreign key: `false` in Lua. */
function isState(item: unknown): boolean {
  return item === null || isBytes(item)
}

function malformedError(store: string, reply: unknown): StoreError {
  const got = Array.isArray(reply) ? `a list of ${reply.map(kindOf).join(', ') || 'nothing'}` : kindOf(reply)
  const fix = 'Check that the client resolves with replies as the server sends them.'
  return new StoreError(store, `the script returned a malformed reply: ${got}. ${fix}`, { cause: reply })
}

function kindOf(value: unknown): string {
  return isBytes(value) ? `${value.length} bytes` : showKind(value)
}

/** Returns the outcome of a charge whose first part has the state in a place. */
function chargeOutcome({ parts }: Charge, place: number, { store, states, atMs, refusal }: Reading): Outcome {
  const [only] = parts
  const state = states[place]
  if (only !== undefined && parts.length === 1 && state !== null && refusal === undefined) {
    const step = only.policy.take(state, atMs, only.cost) // the usual case needs no total of parts
    return { type: 'charge', allowed: step.allowed, atMs, parts: [step] }
  }
  for (let i = 0; i < parts.length; i++)
    if (states[place + i] === null) return foreignKeyError(store, parts[i]?.key ?? '')
  const read = (key: string) => states[place + parts.findIndex((part) => part.key === key)] ?? undefined
  const { verdict, writes } = evaluateCharge(parts, read, atMs)
  return refusal && verdict.allowed && writes.size > 0 ? refusal : verdict
}

function operationOutcome(
  operation: KeyOperation,
  state: State | undefined | null,
  { store, atMs, refusal }: Reading,
): Outcome {
  if (state === null) return foreignKeyError(store, operation.key)
  const { results, writes } = applyBatch([operation], () => state, atMs)
  const [result] = results
  if (refusal && writes.size > 0) return refusal
  return result === undefined || result instanceof Error ? asStoreError(store, result) : result
}
