import type { State } from '../../policies/policy.js'
import type { Outcome } from '../operation.js'
import type { StoreError } from '../store-error.js'
import type { Script } from './lua/prelude.js'

/** One call of a script, for some operations. */
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

/** What the script has read. */
export interface Reading {
  readonly atMs: number
  /** The state of each key, in the order of the keys; `undefined` for a foreign key. */
  readonly states: (State | undefined)[]
  /** Why the server refused to write, if it did. Then nothing was written. */
  readonly refusal: StoreError | undefined
}

/** Returns the server's time in the reply to a call whose periods did not reach to it; `undefined` in others. */
export function timeAlone(reply: unknown): number | undefined {
  if (!Array.isArray(reply) || reply.length !== 1) return undefined
  return Buffer.isBuffer(reply[0]) && reply[0].length === 8 ? reply[0].readDoubleLE() : undefined
}

/** Returns the error with which the server refused to write, as the reply to a call says; '' for none. */
export function refusalIn(reply: unknown): string {
  return Array.isArray(reply) ? String(reply[1] ?? '') : ''
}
