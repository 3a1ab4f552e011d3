import type { Policy, State } from '../../policies/policy.js'
import { policyFromText, policyText } from '../builders/policy-text.js'
import type { StoredState } from '../builders/stored-state.js'
import type { Item } from './client.js'
import { type DecidedState, replay } from './log.js'

/** Identifies the content of an item: each write of a state changes its number, each operation adds an entry. */
export interface ItemVersion {
  /** `undefined` for an item that the store did not write. */
  readonly state: string | undefined
  readonly entries: number | undefined
}

/** The content of an item: a state, and the later operations, which the policy applies to it. */
export interface LoggedState extends DecidedState {
  readonly entries: readonly string[]
  readonly policy: string
}

/** Returns the content of an item, or `undefined` if the store did not write it. */
export function loggedIn({ state, log, policy, version, decided }: Item): LoggedState | undefined {
  if (version?.S === undefined || log?.L === undefined) return undefined
  const decoded = state === undefined ? undefined : decodeState(state.B)
  if (state !== undefined && decoded === undefined) return undefined
  const entries = log.L.map(({ S = '' }) => S)
  return { state: decoded, atMs: Number(decided?.S ?? 0), entries, policy: policy?.S ?? '' }
}

export function versionOf({ version, log }: Item): ItemVersion {
  return { state: version?.S, entries: log?.L?.length }
}

/** Returns the state in an item, with its version. */
export function storedIn(key: string, item: Item | undefined): StoredState<ItemVersion> | undefined {
  if (item === undefined) return undefined
  const version = versionOf(item)
  const logged = loggedIn(item)
  if (logged === undefined) return { state: null, version }
  const { state, entries, policy } = logged
  if (entries.length === 0) return { state, version }
  try {
    return { state: replay({ key, policy: policyFromText(policy) }, logged, entries).state, version }
  } catch {
    return { state: null, version } // of another program, or another version of headgate
  }
}

/** What `itemOf` makes an item of. */
interface WrittenState {
  readonly state: State
  readonly policy: Policy
  readonly version: string
  readonly expiresS: number
  readonly decidedAtMs: number
  readonly minuteMs: number
}

/**
 * Returns the item for a state, with an empty log for more operations of its policy. Its numbers are whole, and
 * the store reads none of them: what a client returns for a number depends on its options.
 */
export function itemOf(key: string, written: WrittenState): Item {
  const { state, policy, version, expiresS, decidedAtMs, minuteMs } = written
  const text = textOf(policy)
  return {
    key: { S: key },
    state: { B: encodeState(state) },
    log: { L: [] },
    version: { S: version },
    at: { N: String(minuteMs) },
    decided: { S: String(decidedAtMs) },
    ...(text !== undefined && { policy: { S: text } }),
    ...(expiresS < Number.POSITIVE_INFINITY && { expires: { N: String(expiresS) } }),
  }
}

/** Returns the text of a policy, or `undefined` if headgate has no such kind. */
export function textOf(policy: Policy): string | undefined {
  try {
    return policyText(policy)
  } catch {
    return undefined
  }
}

/** Returns a state as doubles, which are little-endian on all platforms. */
export function encodeState(state: State): Uint8Array {
  return new Uint8Array(new Float64Array(state).buffer)
}

function decodeState(bytes: Uint8Array | undefined): State | undefined {
  if (bytes === undefined || bytes.length === 0 || bytes.length % 8 !== 0) return undefined
  const state = [...new Float64Array(new Uint8Array(bytes).buffer)]
  return state.every(Number.isFinite) ? state : undefined
}
