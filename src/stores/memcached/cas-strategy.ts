import type { Socket } from 'node:net'
import type { State } from '../../policies/policy.js'
import { RecentMap } from '../../util/recent-map.js'
import { retry } from '../../util/retry.js'
import type { Operation, Result } from '../operation.js'
import { applyBatch } from '../shared/apply-batch.js'
import { FORGOTTEN } from '../shared/apply-operation.js'
import { foreignKeyError } from '../shared/foreign-key.js'
import { keyQueue } from '../shared/key-queue.js'
import { decodeState, encodeState } from '../shared/state-codec.js'
import { timeFor } from './clock-skew.js'
import { removeItem, type Transport } from './connection.js'
import { contentionError, statusError } from './errors.js'
import { CHANGED, expirationOf, get, hasStateFlags, remove, STATUS, swap } from './protocol.js'
import { applySegments, policyOf, type RunSegment, segmentsOf } from './segments.js'

/** How many keys have their last state cached, at least. */
const MIN_KEYS = 100_000

/** A state in memcached, and the item's CAS token, which each write changes. Both `undefined`: no item. */
interface Version {
  readonly state: State | undefined
  readonly cas: bigint | undefined
  /**
   * The connection by which this process wrote it, since a restarted server counts tokens from 1 again.
   * `undefined` for a version that was just read.
   */
  readonly socket?: Socket
}

/**
 * Creates the strategy of compare-and-swap. Bound: exactly the policy's own; a `StoreError` after thirty
 * attempts, or two seconds of them, that other processes won.
 *
 * An attempt reads a state, applies the operations, and writes if no other process has written since. The
 * last version that this process wrote is cached, so a key that only this process changes costs one round
 * trip. A result from the cache counts only if its write succeeds, which proves that the version was
 * current. Calls for a busy key wait and then run together, so a process never races itself.
 */
export function casStrategy(transport: Transport) {
  const ownVersions = new RecentMap<Version>(MIN_KEYS)

  async function swapState(
    key: string,
    operations: readonly Operation[],
  ): Promise<readonly (Result | Error)[]> {
    const own = takeOwnVersion(key)
    const attempt = async () => trySwap(key, await read(key), operations)
    const results =
      (own && (await trySwap(key, own, operations))) ??
      (await retry(attempt, { isFinal: (swapped) => swapped !== undefined }))
    if (results !== undefined) return results
    throw contentionError(key)
  }

  function takeOwnVersion(key: string): Version | undefined {
    const version = ownVersions.get(key)
    ownVersions.delete(key)
    return version?.socket === transport.socketOf(key) ? version : undefined
  }

  async function read(key: string): Promise<Version> {
    const request = get(key)
    const reply = await transport.request(key, request)
    const { status, cas } = reply.header
    if (status === STATUS.notFound) return { state: undefined, cas: undefined }
    if (status !== STATUS.ok) throw statusError(request, reply)
    const state = hasStateFlags(reply.extras) ? decodeState(reply.val) : undefined
    if (state === undefined) throw foreignKeyError('memcached', key)
    return { state, cas: cas.readBigUInt64BE(0) }
  }

  /** Returns the results; `undefined` if the version may no longer be current. */
  async function trySwap(
    key: string,
    version: Version,
    operations: readonly Operation[],
  ): Promise<readonly (Result | Error)[] | undefined> {
    const nowMs = timeFor(policyOf(operations), version.state, Date.now())
    const { results, writes } = applyBatch(operations, () => version.state, nowMs)
    const [write] = writes.values() // all operations are of one key
    if (write === undefined || write.state === version.state) return version.socket ? undefined : results
    const { policy, state } = write
    const expiration = expirationOf(policy.take(state, nowMs, 0).resetAfterMs, nowMs)
    const { cas } = version
    const request = state ? swap(key, encodeState(state), expiration, cas) : remove(key, cas)
    const reply = await transport.request(key, request)
    if (CHANGED.includes(reply.header.status)) return undefined
    if (reply.header.status !== STATUS.ok) throw statusError(request, reply)
    const socket = transport.socketOf(key)
    if (state && socket) ownVersions.set(key, { state, cas: reply.header.cas.readBigUInt64BE(0), socket })
    return results
  }

  async function forget(key: string, operations: readonly Operation[]): Promise<readonly Result[]> {
    ownVersions.delete(key)
    await removeItem(transport, key, key)
    return operations.map(() => FORGOTTEN)
  }

  const runOf = ({ type }: Operation): RunSegment => (type === 'forget' ? forget : swapState)
  return keyQueue((key, operations) => applySegments(key, segmentsOf(operations, runOf)))
}
