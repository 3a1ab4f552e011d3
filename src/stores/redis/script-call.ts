import type { State } from '../../policies/policy.js'
import { StoreError } from '../store-error.js'
import type { Script } from './lua/prelude.js'

/** One call of a script, and how to read its reply. */
export interface ScriptCall<Result> {
  readonly script: Script
  /** Every key, once. */
  readonly keys: readonly string[]
  /** The script's arguments, as src/stores/redis/scripts.ts tells. */
  readonly args: readonly string[]
  /** How many numbers the script's reply has: the time, and the states of all keys. */
  readonly replyLength: number
  /** What came of each item that the call was made for. */
  read(numbers: DataView, trouble: Trouble): readonly (Result | StoreError)[]
}

/** What a script could not do. */
export interface Trouble {
  /** Places of somebody else's keys, counted from 0. */
  readonly foreign: readonly number[]
  /** Why the server refused to write. Then it has written nothing. */
  readonly refusal: StoreError | undefined
}

const NO_TROUBLE: Trouble = { foreign: [], refusal: undefined }

/** Reads what a script replied to a call. Throws a `StoreError` for what is no such reply. */
export function readReply<Result>(
  call: ScriptCall<Result>,
  reply: unknown,
): readonly (Result | StoreError)[] {
  const numbers = numbersIn(reply, call)
  if (numbers) return call.read(numbers, NO_TROUBLE)
  if (Array.isArray(reply)) {
    const [bytes, refused, ...places] = reply as unknown[]
    const foreign = places.map((place) => Number(place) - 1)
    const numbers = numbersIn(bytes, call)
    if (numbers) return call.read(numbers, { foreign, refusal: refusalOf(String(refused)) })
  }
  throw new StoreError('redis', 'the script answered something else than states', { cause: reply })
}

/** The doubles that a call asked for, when these are they. */
function numbersIn(bytes: unknown, { replyLength }: ScriptCall<unknown>): DataView | undefined {
  if (!Buffer.isBuffer(bytes) || bytes.length !== 8 * replyLength) return undefined
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

function refusalOf(message: string): StoreError | undefined {
  return message === ''
    ? undefined
    : new StoreError('redis', message, { cause: new Error(message), answered: true })
}

/** The time at which a script read its states. */
export function timeIn(numbers: DataView): number {
  return numbers.getFloat64(0, true)
}

/** A state of so many numbers, of which `before` stand before it in a reply, not counting the time. */
export function stateIn(numbers: DataView, before: number, width: number): State {
  const state = new Array<number>(width) // a list that grows takes up several times the room
  for (let i = 0; i < width; i++) state[i] = numbers.getFloat64(8 * (1 + before + i), true)
  return state
}

/** Why a charge that names somebody else's key is not decided. */
export function foreignKey(key: string): StoreError {
  const cause = new Error(`WRONGTYPE ${key} holds something that is no state of its policy`)
  const message = `the key ${key} is somebody else's. Give the limiter another prefix.`
  return new StoreError('redis', message, { cause, answered: true })
}
