import { type BanRecord, CLEAN, splitState } from '../../policies/ban-escalation.js'
import type { State } from '../../policies/policy.js'
import { stateIn } from '../../stores/redis/stored-state.js'
import { isStateOf } from '../../stores/shared/state-codec.js'
import { InputError } from '../failures.js'
import type { StoreConnection } from './connection.js'
import type { FoundKey } from './search.js'
import { policyFor } from './stored-limit.js'

/** What a key has stored. */
export interface StoredState {
  /** When it was read, by the clock of the store. */
  readonly atMs: number
  /** The state; of a ban, that of the wrapped policy. */
  readonly state: State
  readonly record: BanRecord
}

/** Reads a key, and changes nothing. Resolves with `undefined` if it has expired meanwhile. */
export async function readState(
  connection: StoreConnection,
  { limit, key }: Pick<FoundKey, 'limit' | 'key'>,
): Promise<StoredState | undefined> {
  const { atMs, bytes } = await connection.readBytes(key)
  if (bytes === undefined) return undefined
  const state = bytes instanceof Uint8Array ? stateIn(bytes) : undefined
  if (!isStateOf(policyFor(limit), state))
    throw new InputError(`the key ${key} holds a value that is not a state of headgate`)
  const { baseState = state, record } = limit.isBan ? splitState(state) : { record: CLEAN }
  return { atMs, state: baseState, record }
}
