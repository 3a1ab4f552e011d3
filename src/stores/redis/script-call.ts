import type { State } from '../../policies/policy.js'
import { asStoreError, StoreError } from '../store-error.js'
import type { Script } from './lua/prelude.js'

/** A call of a script, and how to read its reply. */
export interface ScriptCall<Result> {
  readonly script: Script
  /** Every key once. */
  readonly keys: readonly string[]
  /** ARGV, as the script's opening comment describes it. */
  readonly args: readonly string[]
  /** How many numbers the reply holds: the time, and the states of all keys. */
  readonly replyLength: number
  /** Returns the result of each item of the call. */
  read(numbers: DataView, trouble: Trouble): readonly (Result | StoreError)[]
}

/** What a script could not do. */
export interface Trouble {
  /** Indexes of keys that hold something other than a state of their policy. */
  readonly foreign: readonly number[]
  /** Why the server refused to write, if it did. Then nothing was written. */
  readonly refusal: StoreError | undefined
}

const NO_TROUBLE: Trouble = { foreign: [], refusal: undefined }

/** Returns the results in the reply to a call. Throws a `StoreError` for a malformed reply. */
export function readReply<Result>(
  call: ScriptCall<Result>,
  reply: unknown,
): readonly (Result | StoreError)[] {
  const [bytes, refused, ...foreign]: readonly unknown[] = Array.isArray(reply) ? reply : [reply]
  if (!Buffer.isBuffer(bytes) || bytes.length !== 8 * call.replyLength)
    throw new StoreError('redis', 'the script returned a malformed reply', { cause: reply })
  const numbers = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (!Array.isArray(reply)) return call.read(numbers, NO_TROUBLE)
  const message = String(refused)
  return call.read(numbers, {
    foreign: foreign.map((keyNumber) => Number(keyNumber) - 1),
    refusal: message === '' ? undefined : asStoreError('redis', new Error(message), { answered: true }),
  })
}

/** Returns the server's time in a reply. */
export function decodeTime(numbers: DataView): number {
  return numbers.getFloat64(0, true)
}

/** Returns the state of `width` numbers that `offset` numbers precede in a reply, not counting the time. */
export function decodeState(numbers: DataView, offset: number, width: number): State {
  const state = new Array<number>(width) // a growing array takes several times the memory
  for (let i = 0; i < width; i++) state[i] = numbers.getFloat64(8 * (1 + offset + i), true)
  return state
}

/** Returns the error of an item with a foreign key. */
export function foreignKeyError(key: string): StoreError {
  const cause = new Error(`WRONGTYPE ${key} does not hold a state of its policy`)
  const message = `the key ${key} does not hold a state of its policy. Use another prefix for the limiter.`
  return new StoreError('redis', message, { cause, answered: true })
}
