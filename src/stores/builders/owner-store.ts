import { callback, readOptions, requiredFunction, withDefault } from '../../options/option-table.js'
import { customStore } from '../../pipe/custom-store.js'
import { acrossShards } from '../../pipe/shards.js'
import { type Duration, durationUpTo } from '../../util/durations.js'
import { groupBy } from '../../util/group-by.js'
import { timeout } from '../../util/timeout.js'
import { firstKeyOf, keysOf, type Operation, type Outcome } from '../operation.js'
import { type Run, type RunGroup, runGroups } from '../shared/run-operations.js'
import type { Store } from '../store.js'
import { asStoreError, type StoreError } from '../store-error.js'
import { builtStore, COMMON_ROWS, type CommonStoreOptions } from './built-store.js'
import type { DocumentsMessage } from './document-codec.js'
import { decodeOutcomes, encodeOperations, type OperationsMessage } from './operation-codec.js'
import { policyText } from './policy-text.js'

/** What `serveOperations` replies to, as plain data. */
export type OwnerMessage = OperationsMessage | DocumentsMessage

/** Options of `ownerStore`: what it needs to reach the owner. */
export interface OwnerStoreOptions extends CommonStoreOptions {
  /**
   * Sends a message to the owner, and resolves with the reply of its `serveOperations`. Both are plain data
   * that survives JSON. `owner` is what `ownerOf` returned.
   *
   * If it rejects, the operations fail, but may have been applied. If the message certainly never left,
   * reject with a `StoreError` that has `unsent: true`. Never send a message twice.
   */
  send(message: OperationsMessage, owner: string): Promise<unknown>
  /**
   * Returns the name of the owner of a key, if keys have different owners. By default, there is one owner,
   * named `''`. A charge whose keys have several owners is decided owner by owner, and refunded if a later
   * one denies.
   */
  ownerOf?(key: string): string
  /**
   * How long to wait for a reply, at most a minute. Default `'5s'`. After that, the operations fail, but may
   * have been applied.
   */
  readonly timeout?: Duration
}

/** A function, because bundlers would keep a constant with a spread, even for other stores. */
const optionTable = () => ({
  rows: {
    ...COMMON_ROWS,
    send: requiredFunction('Write send: (message) => …, which resolves with the reply of serveOperations.'),
    ownerOf: callback,
    timeout: withDefault('5s', durationUpTo('1m')),
  },
})

/**
 * Creates a store whose states another process keeps: the owner. It applies the operations of all processes,
 * and replies to their messages with `serveOperations`. The owner can be the primary of `node:cluster`, a
 * parent process, a Durable Object or your own server.
 *
 * - **Atomicity.** That of the owner's store, for a charge whose keys have one owner.
 * - **Clock.** The owner's.
 * - **Restarts.** If the owner exits, the states in its memory are lost.
 * - **Policies.** Only headgate's own policies can be sent, because a message contains a policy's numbers,
 *   but not its code. An operation with any other policy fails, without failing others.
 *
 * Throws a `TypeError` for wrong options.
 *
 * @example
 * ```ts
 * import { ownerStore } from 'headgate/store'
 *
 * const store = ownerStore({
 *   name: 'limits',
 *   async send(message) {
 *     const request = { method: 'POST', body: JSON.stringify(message) }
 *     return (await fetch('http://limits.internal/', request)).json()
 *   },
 * })
 * ```
 */
export function ownerStore(options: OwnerStoreOptions): Store {
  const { batching, timeout: timeoutMs } = readOptions('ownerStore', options, optionTable())
  const { name, send, ownerOf } = options
  const withTimeout = timeout(timeoutMs)

  /** Asks one owner. If that fails, all its operations fail, but not those of other owners. */
  async function askOwner(owner: string, operations: readonly Operation[]): Promise<readonly Outcome[]> {
    const problems = operations.map((operation) => problemOf(name, operation))
    const sent = operations.filter((_, i) => problems[i] === undefined)
    let outcomes: Iterator<Outcome, undefined> | undefined
    let failure: StoreError | undefined
    try {
      if (sent.length > 0) {
        const reply = await withTimeout(send(encodeOperations(sent), owner))
        outcomes = decodeOutcomes(name, sent, reply).values()
      }
    } catch (cause) {
      failure = asStoreError(name, cause)
    }
    return problems.flatMap((problem) => problem ?? failure ?? outcomes?.next().value ?? [])
  }

  const run: Run = (operations, settle) => {
    const byOwner = groupBy(operations.keys(), (i) => ownerOf?.(firstKeyOf(operations[i])) ?? '')
    const groups = Array.from(byOwner, ([owner, indexes]): RunGroup => {
      return { indexes, run: (ofOwner) => askOwner(owner, ofOwner) }
    })
    return runGroups(operations, groups, settle)
  }
  return customStore(
    builtStore({ ...options, batching }, ownerOf ? acrossShards(ownerOf, run, batching) : run),
  )
}

/** Returns the error of an operation that cannot be sent because headgate did not create its policy. */
function problemOf(name: string, operation: Operation) {
  try {
    for (const { policy } of keysOf(operation)) policyText(policy)
  } catch (cause) {
    return asStoreError(name, cause, { replied: true })
  }
}
