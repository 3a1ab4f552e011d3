import { type BanRecord, CLEAN, splitState } from '../../policies/ban-escalation.js'
import type { Policy, State } from '../../policies/policy.js'
import { policyOfState } from '../../policies/policy-of-state.js'
import { InputError } from '../failures.js'
import type { StoreConnection } from './connection.js'
import type { FoundKey } from './search.js'
import { policyFor } from './stored-limit.js'

/** What a key has stored. */
export interface StoredState {
  /** When it was read, by the clock of the store. */
  readonly atMs: number
  /** The policy that wrote it; of a ban, the wrapped one. The limit of `concurrency` is not known. */
  readonly policy: Policy
  /** The state of this policy. */
  readonly state: State
  readonly record: BanRecord
}

/** Reads a key, and changes nothing. Resolves with `undefined` if it has expired meanwhile. */
export async function readState(
  connection: StoreConnection,
  { limit, key }: Pick<FoundKey, 'limit' | 'key'>,
): Promise<StoredState | undefined> {
  const take = { type: 'take', key, policy: policyFor(limit), units: 0, withState: true } as const
  const { atMs, state } = await connection.applyOne(take)
  if (state === undefined) return undefined
  const policy = policyOfState(limit.anyPolicy, state)
  if (policy === undefined)
    throw new InputError(`the key ${key} holds a value that is not a state of headgate`)
  const { baseState = state, record } = limit.isBan ? splitState(state) : { record: CLEAN }
  return { atMs, policy, state: baseState, record }
}
