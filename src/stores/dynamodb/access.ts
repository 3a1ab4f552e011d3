import type { KeyedOperations } from '../../pipe/by-key.js'
import { type Swap, type SwapAccess, swapLoop } from '../builders/swap-loop.js'
import type { Outcome } from '../operation.js'
import { foreignKeyError } from '../shared/state-codec.js'
import { appendUpdates, expiryS, MAX_ENTRIES, minuteOf } from './append.js'
import type { Condition, Item, Table, Update } from './client.js'
import { isThrottled } from './errors.js'
import {
  encodeState,
  type ItemVersion,
  itemOf,
  type LoggedState,
  loggedIn,
  storedIn,
  textOf,
  versionOf,
} from './item.js'
import { type DecidedState, encodeEntries, replay } from './log.js'
import { isWritten, unlessChanged } from './unless-changed.js'

/**
 * After this many entries, a process folds the log. Most items then stay below 1 KB, which is one write
 * unit.
 */
const ENTRIES = 20
/** The most entries that one update folds: an expression has at most 4 KB. */
const MAX_FOLDED = 200

/**
 * Returns the function that applies operations to a key.
 *
 * An operation is appended to a log in the item, by an update without a read. The database puts all updates
 * of an item in one order, and replies with the item. Each process applies the log to the state, and so
 * learns the outcome of its operation. Processes never compete. Now and then, one of them folds the entries
 * that it knows into the state. Others can append entries meanwhile.
 *
 * These operations cannot be in the log, and take a read and a compare-and-swap:
 *
 * - those of a policy other than the log's
 * - those on a ban, because its end depends on their outcomes
 * - those that arrive very late, such as when a function was frozen before it sent them
 */
export function dynamodbAccess(table: Table, clock: () => number) {
  async function append(keyed: KeyedOperations): Promise<readonly Outcome[] | undefined> {
    const { key, policy, operations } = keyed
    const nowMs = clock()
    const text = policy.isBan ? undefined : textOf(policy)
    const entries = text === undefined ? undefined : encodeEntries(operations, nowMs)
    if (text === undefined || entries === undefined || entries.length > MAX_ENTRIES) return undefined
    const updates = appendUpdates({ entries, policy, text, nowMs }, newVersion())
    let item: Item | undefined
    for (const update of updates) item ??= await unlessChanged(() => table.update(key, update))
    if (item === undefined) return undefined
    const logged = loggedIn(item)
    if (logged === undefined) throw foreignKeyError('dynamodb', key)
    const { length } = logged.entries
    if (Math.floor(length / ENTRIES) > Math.floor((length - entries.length) / ENTRIES))
      fold(keyed, versionOf(item), logged).catch(() => undefined) // another process will fold the log
    return replay(keyed, logged, logged.entries, entries.length).latest
  }

  /** Writes the state after the first entries of a log, and removes these entries. */
  async function fold({ key, policy }: KeyedOperations, version: ItemVersion, logged: LoggedState) {
    const folded = logged.entries.slice(0, MAX_FOLDED)
    const { state, atMs } = replay({ key, policy }, logged, folded)
    const isFresh = state === undefined && folded.length === logged.entries.length
    if (isFresh && (await swap({ key, version, state, policy, ttlMs: 0, nowMs: atMs }))) return
    await unlessChanged(() => table.update(key, foldUpdate(version, { state, atMs }, folded.length)))
  }

  async function swap(change: Swap<ItemVersion>): Promise<boolean> {
    const { key, version, state, policy, ttlMs, keepsExpiry, nowMs } = change
    const condition = conditionOf(version)
    if (state === undefined) return isWritten(() => table.remove(key, condition))
    const item = itemOf(key, {
      state,
      policy,
      version: nextVersion(version),
      expiresS: expiryS(clock() + ttlMs),
      decidedAtMs: nowMs,
      minuteMs: minuteOf(nowMs),
    })
    return isWritten(() =>
      keepsExpiry ? table.update(key, replacement(item, condition)) : table.put(item, condition),
    )
  }

  const access: SwapAccess<ItemVersion> = {
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

/** Returns the update that replaces an item, but keeps its expiry. */
function replacement({ key: _, expires: __, ...attributes }: Item, condition: Condition): Update {
  const entries = Object.entries(attributes)
  const removal = attributes.policy === undefined ? ' REMOVE #new_policy' : ''
  return {
    ...condition,
    UpdateExpression: `SET ${entries.map(([name]) => `#new_${name} = :new_${name}`).join(', ')}${removal}`,
    ExpressionAttributeNames: {
      ...condition.ExpressionAttributeNames,
      '#new_policy': 'policy',
      ...Object.fromEntries(entries.map(([name]) => [`#new_${name}`, name])),
    },
    ExpressionAttributeValues: {
      ...condition.ExpressionAttributeValues,
      ...Object.fromEntries(entries.map(([name, value]) => [`:new_${name}`, value])),
    },
  }
}

/** Returns the update that writes a state and removes its entries, the first `count`. Others stay. */
function foldUpdate(version: ItemVersion, { state, atMs }: DecidedState, count: number) {
  const { state: number = '' } = version
  // From the end, since dynalite removes one after the other.
  const folded = Array.from({ length: count }, (_, i) => `#log[${count - 1 - i}]`)
  const [set, removed] = state === undefined ? ['', ['#state', ...folded]] : [', #state = :state', folded]
  return {
    UpdateExpression: `SET #version = :next, #decided = :decided${set} REMOVE ${removed.join(', ')}`,
    ConditionExpression: '#version = :version',
    ExpressionAttributeNames: {
      '#version': 'version',
      '#decided': 'decided',
      '#state': 'state',
      '#log': 'log',
    },
    ExpressionAttributeValues: {
      ':version': { S: number },
      ':next': { S: nextVersion(version) },
      ':decided': { S: String(atMs) },
      ...(state !== undefined && { ':state': { B: encodeState(state) } }),
    },
  }
}

function nextVersion(version: ItemVersion | undefined): string {
  return version?.state === undefined ? newVersion() : String(Number(version.state) + 1)
}

/** Random, so that an item that is removed and written again always gets another version. */
const newVersion = () => String(Math.floor(Math.random() * 2 ** 48))

function conditionOf(version: ItemVersion | undefined): Condition {
  if (version === undefined)
    return {
      ConditionExpression: 'attribute_not_exists(#key)',
      ExpressionAttributeNames: { '#key': 'key' },
    }
  const { state, entries } = version
  if (state === undefined)
    return {
      ConditionExpression: 'attribute_not_exists(#version)',
      ExpressionAttributeNames: { '#version': 'version' },
    }
  const hasLog = entries !== undefined
  return {
    ConditionExpression: `#version = :version${hasLog ? ' AND size(#log) = :entries' : ''}`,
    ExpressionAttributeNames: { '#version': 'version', ...(hasLog && { '#log': 'log' }) },
    ExpressionAttributeValues: {
      ':version': { S: state },
      ...(hasLog && { ':entries': { N: String(entries) } }),
    },
  }
}
