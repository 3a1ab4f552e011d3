import type { State } from '../../policies/policy.js'
import type { Outcome } from '../operation.js'
import { asStoreError, StoreError } from '../store-error.js'
import type { Script } from './lua/prelude.js'

export interface ScriptCall {
  readonly script: Script
  readonly keys: readonly string[]
  /** ARGV, as the script's opening comment describes it. */
  readonly args: readonly string[]
  /** How many numbers the state of each key has. */
  readonly widths: readonly number[]
  /** Returns the outcome of each operation of the call. May change `states`. */
  outcomesFrom(reading: Reading): readonly Outcome[]
}

export interface Reading {
  readonly atMs: number
  /** The state of each key, in the order of the keys; `undefined` for a foreign key. */
  readonly states: (State | undefined)[]
  /** Why the server refused to write, if it did. Then nothing was written. */
  readonly refusal: StoreError | undefined
}

/** Returns the outcomes in the reply to a call. Throws a `StoreError` for a malformed reply. */
export function readReply({ widths, outcomesFrom }: ScriptCall, reply: unknown): readonly Outcome[] {
  const [bytes, , ...foreign]: readonly unknown[] = Array.isArray(reply) ? reply : [reply]
  const length = 8 * widths.reduce((sum, width) => sum + width, 1)
  if (!Buffer.isBuffer(bytes) || bytes.length !== length)
    throw new StoreError('redis', 'the script returned a malformed reply', { cause: reply })
  const numbers = new DataView(bytes.buffer, bytes.byteOffset, length)
  let end = 8
  const states: (State | undefined)[] = widths.map((width) => {
    const state = new Array<number>(width) // a growing array takes several times the memory
    for (let i = 0; i < width; i++) state[i] = numbers.getFloat64(end + 8 * i, true)
    end += 8 * width
    return state
  })
  for (const keyNumber of foreign) states[Number(keyNumber) - 1] = undefined
  const message = refusalIn(reply)
  const refusal = message ? asStoreError('redis', new Error(message), { answered: true }) : undefined
  return outcomesFrom({ atMs: numbers.getFloat64(0, true), states, refusal })
}

/** Returns the error with which the server refused to write, as the reply to a call says; '' for none. */
export function refusalIn(reply: unknown): string {
  return Array.isArray(reply) ? String(reply[1] ?? '') : ''
}
