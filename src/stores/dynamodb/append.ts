import type { Policy } from '../../policies/policy.js'
import type { Update } from './client.js'

/** The most entries in a log. No process adds more until one has folded it. */
export const MAX_ENTRIES = 1000
/**
 * An item has the start of the minute of its latest operation, and an expiry for the end of that minute.
 * Processes whose clocks differ mostly write the same, and an update never sets them back.
 */
const MINUTE_MS = 60_000
/** How much longer than its state an item is kept, at least. */
const MARGIN_S = 60
/**
 * An operation that arrives up to this much later than others is decided after them, at their time. If an
 * item is further ahead, by up to a minute more, a clock was wrong when it was written, or the operation
 * waited in a frozen function.
 */
const MAX_LATE_MS = 10_000

/** Returns when DynamoDB may delete an item, in seconds since the Unix epoch. */
export const expiryS = (resetAtMs: number): number => Math.ceil(resetAtMs / 1000) + MARGIN_S

/** Returns the start of the minute that a time is in. */
export const minuteOf = (ms: number): number => Math.floor(ms / MINUTE_MS) * MINUTE_MS

/** Returns when a state is fresh again, at the latest, if its last operation is of a minute. */
function lastResetMs(policy: Policy, minuteMs: number): number {
  const endMs = minuteMs + MINUTE_MS - 1
  return endMs + policy.take(undefined, endMs, policy.limit + (policy.debt ?? 0), true).resetAfterMs
}

/** Entries for the log of an item, made at `nowMs`. */
interface Append {
  readonly entries: readonly string[]
  readonly policy: Policy
  /** The policy, as items have it. */
  readonly text: string
  readonly nowMs: number
}

/**
 * Returns the updates that append entries, to be tried in order. The first is for a new item, or for one of
 * this minute or an earlier one. The second is for an item of the next minute, and keeps its times. It is
 * absent unless the entries may be late for this minute.
 */
export function appendUpdates(append: Append, newVersion: string): readonly Update[] {
  const { policy, nowMs } = append
  const minuteMs = minuteOf(nowMs)
  const resetMs = lastResetMs(policy, minuteMs)
  const expires = resetMs === Number.POSITIVE_INFINITY ? undefined : expiryS(resetMs)
  const inTime = updateInTime(updateBefore(append, minuteMs, expires, '<='), expires, newVersion)
  const soonMs = minuteOf(nowMs + MAX_LATE_MS)
  return soonMs === minuteMs ? [inTime] : [inTime, updateBefore(append, soonMs, expires, '>=')]
}

/** Returns the update of an item whose minute is at most `minuteMs`, and whose expiry is that of the log. */
function updateBefore(
  { entries, text }: Append,
  minuteMs: number,
  expires: number | undefined,
  comparison: '<=' | '>=',
) {
  const isEndless = expires === undefined
  const lasts = isEndless ? 'attribute_not_exists(#expires)' : `#expires ${comparison} :expires`
  return {
    UpdateExpression: 'SET #log = list_append(#log, :entries)',
    ConditionExpression: `#policy = :policy AND size(#log) <= :room AND #at <= :at AND ${lasts}`,
    ExpressionAttributeNames: { '#log': 'log', '#policy': 'policy', '#expires': 'expires', '#at': 'at' },
    ExpressionAttributeValues: {
      ':entries': { L: entries.map((S) => ({ S })) },
      ':policy': { S: text },
      ':at': { N: String(minuteMs) },
      ':room': { N: String(MAX_ENTRIES - entries.length) },
      ...(!isEndless && { ':expires': { N: String(expires) } }),
    },
  }
}

/** Returns the update that also creates the item, and that sets its times. */
function updateInTime(update: Required<Update>, expires: number | undefined, newVersion: string): Update {
  const setExpiry = expires === undefined ? '' : ', #expires = :expires'
  return {
    UpdateExpression: `SET #log = list_append(if_not_exists(#log, :none), :entries), #policy = :policy, #version = if_not_exists(#version, :seed), #at = :at${setExpiry}`,
    ConditionExpression: `attribute_not_exists(#key) OR (${update.ConditionExpression})`,
    ExpressionAttributeNames: { ...update.ExpressionAttributeNames, '#key': 'key', '#version': 'version' },
    ExpressionAttributeValues: {
      ...update.ExpressionAttributeValues,
      ':none': { L: [] },
      ':seed': { S: newVersion },
    },
  }
}
