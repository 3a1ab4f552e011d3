import type { KeyedOperations } from '../../pipe/by-key.js'
import type { Policy } from '../../policies/policy.js'
import { MAX_SKEW_MS } from '../builders/decision-time.js'
import { type Swap, type SwapAccess, swapLoop } from '../builders/swap-loop.js'
import type { Outcome } from '../operation.js'
import { foreignKeyError } from '../shared/state-codec.js'
import type { Condition, Table } from './client.js'
import { isConditionFailed, isThrottled } from './errors.js'
import { FOREIGN, itemOf, loggedIn, storedIn, textOf } from './item.js'
import { encodeEntries, replay } from './log.js'

/**
 * After this many entries, a process empties the log, so most items stay below 1 KB, which is one write
 * unit.
 */
const ENTRIES = 20
/** The most entries in a log. No process adds more until one has emptied the log. */
const MAX_ENTRIES = 100
/** Expiries are rounded up to a multiple of this, so that clocks that differ mostly give the same expiry. */
const STEP_S = 60
const NAMES = {
  '#key': 'key',
  '#log': 'log',
  '#policy': 'policy',
  '#version': 'version',
  '#expires': 'expires',
  '#at': 'at',
}

/**
 * Returns when DynamoDB may delete an item, in seconds since the Unix epoch. One to two steps are a margin.
 */
const expiryS = (expiresAtMs: number) => (Math.ceil(expiresAtMs / 1000 / STEP_S) + 1) * STEP_S

/** Returns the longest time that a state of a policy is in use after its last charge. */
function lifetimeMs(policy: Policy, nowMs: number): number {
  return policy.take(undefined, nowMs, policy.limit + (policy.debt ?? 0), true).resetAfterMs
}

/**
 * Returns the function that applies operations to a key.
 *
 * An operation is appended to a log in the item, by an update without a read. The database puts all updates of an
 * item in one order, and replies with the item. So each process finds out what came of its operation when it
 * applies the log to the state, and processes never compete. Now and then, one of them writes the state and
 * empties the log, by compare-and-swap. So do operations that cannot be in the log: those of a policy other than
 * the log's, and those on a ban, whose end depends on its outcomes. And so do those that arrive late, such as when a
 * function was frozen before it sent them: at their time, the policy would free what was taken since.
 */
export function dynamodbAccess(table: Table, clock: () => number) {
  async function append(keyed: KeyedOperations): Promise<readonly Outcome[] | undefined> {
    const { key, policy, operations } = keyed
    const nowMs = clock()
    const text = policy.isBan ? undefined : textOf(policy)
    const entries = text === undefined ? undefined : encodeEntries(operations, nowMs)
    if (text === undefined || entries === undefined || entries.length > MAX_ENTRIES) return undefined
    const lasting = lifetimeMs(policy, nowMs)
    const isEndless = lasting === Number.POSITIVE_INFINITY
    const expires = expiryS(nowMs + lasting)
    const isReady = isEndless ? 'attribute_not_exists(#expires)' : '#expires <= :latest'
    const item = await unlessChanged(() =>
      table.update(key, {
        UpdateExpression: `SET #log = list_append(if_not_exists(#log, :none), :entries), #policy = :policy, #version = if_not_exists(#version, :seed) + :one, #at = :at${isEndless ? '' : ', #expires = :expires'}`,
        ConditionExpression: `attribute_not_exists(#key) OR (#policy = :policy AND size(#log) <= :room AND #at <= :soon AND ${isReady})`,
        ExpressionAttributeNames: NAMES,
        ExpressionAttributeValues: {
          ':entries': { L: entries.map((S) => ({ S })) },
          ':none': { L: [] },
          ':policy': { S: text },
          ':seed': { N: newVersion() },
          ':one': { N: '1' },
          ':at': { N: String(nowMs) },
          ':soon': { N: String(nowMs + MAX_SKEW_MS) },
          ':room': { N: String(MAX_ENTRIES - entries.length) },
          ...(!isEndless && {
            ':expires': { N: String(expires) },
            ':latest': { N: String(expires + STEP_S) },
          }),
        },
      }),
    )
    if (item === undefined) return undefined
    const logged = loggedIn(item)
    if (logged === undefined) throw foreignKeyError('dynamodb', key)
    const { length } = logged.entries
    const { state, latest, atMs } = replay(keyed, logged.state, logged.entries, entries.length)
    if (Math.floor(length / ENTRIES) > Math.floor((length - entries.length) / ENTRIES)) {
      const change = { key, version: item.version?.N, state, policy, ttlMs: lasting, nowMs: atMs }
      swap(change).catch(() => undefined) // another process will
    }
    return latest
  }

  async function swap({ key, version, state, policy, ttlMs, nowMs }: Swap<string>): Promise<boolean> {
    const condition = conditionOf(version)
    const next = version === undefined || version === FOREIGN ? newVersion() : String(Number(version) + 1)
    const write =
      state === undefined
        ? () => table.remove(key, condition)
        : () =>
            table.put(
              itemOf(key, { state, policy, version: next, expiresS: expiryS(clock() + ttlMs), atMs: nowMs }),
              condition,
            )
    const written = await unlessChanged(() => write().then(() => true))
    return written ?? false
  }

  const access: SwapAccess<string> = {
    async read(key) {
      return storedIn(key, await table.get(key))
    },
    swap: (change, settle, fail) => void swap(change).then(settle, fail),
    now: clock,
    applyUnread: append,
    isTemporary: isThrottled,
  }
  return swapLoop('dynamodb', access)
}

/** Random, so that an item that is removed and written again always gets another version. */
const newVersion = () => String(Math.floor(Math.random() * 2 ** 48))

function conditionOf(version: string | undefined): Condition {
  if (version === undefined)
    return {
      ConditionExpression: 'attribute_not_exists(#key)',
      ExpressionAttributeNames: { '#key': 'key' },
    }
  const ExpressionAttributeNames = { '#version': 'version' }
  if (version === FOREIGN)
    return { ConditionExpression: 'attribute_not_exists(#version)', ExpressionAttributeNames }
  const ExpressionAttributeValues = { ':version': { N: version } }
  return { ConditionExpression: '#version = :version', ExpressionAttributeNames, ExpressionAttributeValues }
}

/** Resolves like the request, or with `undefined` if the condition of the request failed. */
async function unlessChanged<T>(request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request()
  } catch (error) {
    if (isConditionFailed(error)) return undefined
    throw error
  }
}
