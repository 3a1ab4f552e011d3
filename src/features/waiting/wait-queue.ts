import { type Decision, decisionOf, type PartDecision } from '../../limiter/decision.js'
import { callAt } from '../../util/call-at.js'
import { exactMs, type Queue, unitsOf, type Waiter } from './waiter.js'

/** The most waiters of one queue that charge at the same time. */
const MAX_CHARGING = 64

/** Inserts a waiter behind earlier ones. */
export function insert(queue: Queue, waiter: Waiter): void {
  const isFirst = queue.first === undefined || waiter.arrival < queue.first.arrival
  let earlier = isFirst ? undefined : queue.last
  while (earlier !== undefined && earlier.arrival > waiter.arrival) earlier = earlier.earlier
  const later = earlier === undefined ? queue.first : earlier.later
  link(queue, earlier, waiter)
  link(queue, waiter, later)
  waiter.queue = queue
  queue.soonestMs = Math.min(queue.soonestMs, waiter.deadlineMs)
}

/** Removes a waiter from its queue, and gives those behind it their turns. */
export function remove(queue: Queue, waiter: Waiter): void {
  const { earlier, later, hasTurn } = waiter
  link(queue, earlier, later)
  waiter.queue = waiter.earlier = waiter.later = undefined
  const { first } = queue
  if (first === undefined) stopTimer(queue)
  else if (hasTurn) giveTurns(queue, first, waiter)
  // A smaller cost may be allowed earlier.
  else if (earlier === undefined && unitsOf(first, queue) < unitsOf(waiter, queue)) giveTurn(queue, first)
}

function link(queue: Queue, earlier: Waiter | undefined, later: Waiter | undefined): void {
  if (earlier === undefined) queue.first = later
  else earlier.later = later
  if (later === undefined) queue.last = earlier
  else later.earlier = earlier
}

/** Wakes waiters that no other queue will wake, after a waiter from another queue has charged. */
export function giveTurnsAfter(queue: Queue, waiter: Waiter): void {
  const { first, outsiders, cancelTimer } = queue
  if (first !== undefined && !first.hasTurn && outsiders === 0 && cancelTimer === undefined)
    giveTurns(queue, first, waiter)
}

/** Gives turns to as many as will be allowed after a waiter's charge, or to the first when it may be. */
function giveTurns(queue: Queue, first: Waiter, { figures: partFigures, parts }: Waiter): void {
  const figures = partFigures[parts.findIndex(({ key }) => key === queue.key)]
  if (figures === undefined || figures.moreAfterMs === Number.POSITIVE_INFINITY) {
    giveTurn(queue, first)
    return
  }
  let units = figures.remaining
  let waiter: Waiter | undefined = first
  for (let count = 0; waiter !== undefined && count < MAX_CHARGING; count++) {
    units -= unitsOf(waiter, queue)
    if (units < 0) break
    giveTurn(queue, waiter)
    waiter = waiter.later
  }
  if (!first.hasTurn) waitFor(queue, figures, allowedAfterMs(first, queue, figures))
}

/** Returns when a waiter will be allowed: exactly for token buckets, elsewhere never too late. */
function allowedAfterMs({ parts }: Waiter, { key }: Queue, figures: PartDecision): number {
  const { limit, resetAfterMs, moreAfterMs } = figures
  const part = parts.find((each) => each.key === key)
  if (part?.policy.spec.kind !== 'token-bucket' || part.policy.limit !== limit) return moreAfterMs
  const { intervalMs } = part.policy.spec
  return Math.max(moreAfterMs, resetAfterMs - (limit - part.cost) * intervalMs)
}

/** Gives the first of a queue its turn after a time, which was known just now, with these figures. */
export function waitFor(queue: Queue, figures: PartDecision, forMs: number): void {
  stopTimer(queue)
  queue.figures = figures
  queue.knownAtMs = performance.now()
  queue.turnAtMs = queue.knownAtMs + forMs
  queue.notBeforeMs = queue.knownAtMs + exactMs(queue.first, queue.key, forMs)
  queue.cancelTimer = callAt(queue.turnAtMs, () => giveFirstTurn(queue))
  if (queue.soonestMs <= queue.notBeforeMs) wakeExpired(queue)
}

/** Wakes waiters whose deadline comes before any charge is allowed. */
function wakeExpired(queue: Queue): void {
  queue.soonestMs = Number.POSITIVE_INFINITY
  for (let waiter = queue.first; waiter !== undefined; waiter = waiter.later) {
    if (waiter.deadlineMs <= queue.notBeforeMs) waiter.wake()
    else queue.soonestMs = Math.min(queue.soonestMs, waiter.deadlineMs)
  }
}

/** Lets those in a queue try again whose units came back: once the charges of others ahead are over. */
export function retry(queue: Queue): void {
  queue.returns += 1
  if (queue.outsiders > 0) stopTimer(queue)
  else giveFirstTurn(queue)
}

/** Gives the first of a queue its turn now. */
function giveFirstTurn(queue: Queue): void {
  if (queue.first !== undefined) giveTurn(queue, queue.first)
}

function giveTurn(queue: Queue, waiter: Waiter): void {
  if (waiter.hasTurn) return
  stopTimer(queue)
  waiter.hasTurn = true
  waiter.wake()
}

function stopTimer(queue: Queue): void {
  queue.cancelTimer?.()
  queue.cancelTimer = undefined
}

/**
 * Returns the denial of a waiter that did not charge: the figures of the limit that it waits for. Returns
 * `undefined` if that limit has denied no charge.
 */
export function denialIn(queue: Queue, { parts }: Waiter): Decision | undefined {
  if (queue.figures === undefined) return undefined
  const nowMs = performance.now()
  const { remaining, resetAfterMs, moreAfterMs } = queue.figures
  const left = (afterMs: number) => Math.max(0, afterMs - (nowMs - queue.knownAtMs))
  const figures = {
    allowed: false,
    remaining,
    resetAfterMs: left(resetAfterMs),
    retryAfterMs: Math.max(1, queue.turnAtMs - nowMs),
    moreAfterMs: left(moreAfterMs),
  }
  const receipt = { parts: parts.filter(({ key }) => key === queue.key), isRefundable: false }
  return decisionOf('deny-cache', receipt, {
    type: 'charge',
    allowed: false,
    atMs: Date.now(),
    parts: [figures],
  })
}
