import type { KeyedOperations } from '../../pipe/by-key.js'
import type { Policy } from '../../policies/policy.js'
import { type Swap, type SwapAccess, swapLoop } from '../builders/swap-loop.js'
import type { Outcome } from '../operation.js'
import { foreignKeyError } from '../shared/state-codec.js'
import type { Condition, Table } from './client.js'
import { isConditionFailed, isThrottled } from './errors.js'
import { FOREIGN, itemOf, loggedIn, storedIn, textOf } from './item.js'
import { encodeEntries, replay } from './log.js'

/** The process that adds each so-manieth entry empties the log. Most items have less than 1 KB: one write unit. */
const ENTRIES = 20
/** No process adds more, before one has emptied the log. */
const MAX_ENTRIES = 100
/** Expiries are rounded up to a multiple of this, so that those of clocks that differ are mostly the same. */
const STEP_S = 60
const NAMES = {
  '#key': 'key',
  '#log': 'log',
  '#policy': 'policy',
  '#version': 'version',
  '#expires': 'expires',
}

/** Returns when an item may be deleted, in seconds since the Unix epoch: one to two steps later than needed. */
const expiryS = (expiresAtMs: number) => (Math.ceil(expiresAtMs / 1000 / STEP_S) + 1) * STEP_S

/** Returns how long a state of a policy is in use after its last charge, at most. */
function lifetimeMs(policy: Policy, nowMs: number): number {
  return policy.take(undefined, nowMs, policy.limit + (policy.debt ?? 0), true).resetAfterMs
}

/**
 * Returns what applies operations to a key.
 *
 * An operation is appended to a log in the item, by an update without a read. The database puts all updates of an
 * item in one order, and replies with the item. So each process finds out what came of its operation when it
 * applies the log to the state, and processes never compete. Now and then, one of them writes the state and
 * empties the log, by compare-and-swap. So do operations that cannot be in the log: those of a policy other than
 * the log's, and those on a ban, whose end depends on its outcomes.
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
        UpdateExpression: `SET #log = list_append(if_not_exists(#log, :none), :entries), #policy = :policy, #version = if_not_exists(#version, :seed) + :one${isEndless ? '' : ', #expires = :expires'}`,
        ConditionExpression: `attribute_not_exists(#key) OR (#policy = :policy AND size(#log) <= :room AND ${isReady})`,
        ExpressionAttributeNames: NAMES,
        ExpressionAttributeValues: {
          ':entries': { L: entries.map((S) => ({ S })) },
          ':none': { L: [] },
          ':policy': { S: text },
          ':seed': { N: newVersion() },
          ':one': { N: '1' },
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
    const before = replay(keyed, logged.state, logged.entries.slice(0, length - entries.length))
    const { state, outcomes } = replay(keyed, before.state, logged.entries.slice(length - entries.length))
    if (Math.floor(length / ENTRIES) > Math.floor((length - entries.length) / ENTRIES)) {
      const change = { key, version: item.version?.N, state, policy, ttlMs: lasting }
      swap(change).catch(() => undefined) // another process will
    }
    return outcomes
  }

  async function swap({ key, version, state, policy, ttlMs }: Swap<string>): Promise<boolean> {
    const condition = conditionOf(version)
    const next = version === undefined || version === FOREIGN ? newVersion() : String(Number(version) + 1)
    const write =
      state === undefined
        ? () => table.remove(key, condition)
        : () => table.put(itemOf(key, state, policy, next, expiryS(clock() + ttlMs)), condition)
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

/** An item that was removed and written again has another version, whatever their numbers of writes. */
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

/** Returns what a request resolves with; `undefined` if its condition failed. */
async function unlessChanged<T>(request: () => Promise<T>): Promise<T | undefined> {
  try {
    return await request()
  } catch (error) {
    if (isConditionFailed(error)) return undefined
    throw error
  }
}
