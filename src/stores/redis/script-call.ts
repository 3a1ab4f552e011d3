import type { State } from '../../policies/policy.js'
import { StoreError } from '../store-error.js'
import type { Script } from './lua/prelude.js'

/** A call of a script, and how to read its reply. */
export interface ScriptCall<Result> {
  readonly script: Script
  /** Every key once. */
  readonly keys: readonly string[]
  /** ARGV, as the script's head describes it. */
  readonly args: readonly string[]
  /** How many numbers the reply has: the time, and the states of all keys. */
  readonly replyLength: number
  /** Returns the outcome of each item that the call was made for. */
  read(numbers: DataView, trouble: Trouble): readonly (Result | StoreError)[]
}

/** What a script could not do. */
export interface Trouble {
  /** Indexes of keys that hold something other than a state of their policy. */
  readonly foreign: readonly number[]
  /** Why the server refused to write. Then it has written nothing. */
  readonly refusal: StoreError | undefined
}

const NO_TROUBLE: Trouble = { foreign: [], refusal: undefined }

/** Reads a script's reply to a call. Throws a `StoreError` for anything else. */
export function readReply<Result>(
  call: ScriptCall<Result>,
  reply: unknown,
): readonly (Result | StoreError)[] {
  const [bytes, refusal, ...places]: readonly unknown[] = Array.isArray(reply) ? reply : [reply]
  if (!Buffer.isBuffer(bytes) || bytes.length !== 8 * call.replyLength)
    throw new StoreError('redis', 'the reply to the script is no list of states', { cause: reply })
  const numbers = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (!Array.isArray(reply)) return call.read(numbers, NO_TROUBLE)
  return call.read(numbers, {
    foreign: places.map((place) => Number(place) - 1),
    refusal: String(refusal) === '' ? undefined : refusalOf(String(refusal)),
  })
}

function refusalOf(message: string): StoreError {
  return new StoreError('redis', message, { cause: new Error(message), answered: true })
}

/** Returns the time at which a script read its states. */
export function timeIn(numbers: DataView): number {
  return numbers.getFloat64(0, true)
}

/** Decodes a state of `width` numbers, of which `offset` precede it in a reply, not counting the time. */
export function decodeState(numbers: DataView, offset: number, width: number): State {
  const state = new Array<number>(width) // an array that grows takes up several times the memory
  for (let i = 0; i < width; i++) state[i] = numbers.getFloat64(8 * (1 + offset + i), true)
  return state
}

/** Returns the error of an item that names a foreign key. */
export function foreignKey(key: string): StoreError {
  const cause = new Error(`WRONGTYPE ${key} holds something that is no state of its policy`)
  const message = `the key ${key} is somebody else's. Give the limiter another prefix.`
  return new StoreError('redis', message, { cause, answered: true })
}
