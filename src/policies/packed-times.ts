import type { State } from './policy.js'

/**
 * The state of a sliding log: the times of the units taken last, two in each number.
 *
 * It begins with the numbers that it was written under: the limit, and the window in milliseconds. Then come
 * its base (in ticks since the Unix epoch) and the slot to write next. The slots follow, two in each number.
 * A slot holds a time in ticks after the base, or 0 if it is empty. The length of a tick depends on the
 * window.
 *
 * The slots form a ring, so a charge writes one slot for each of its units and moves no others. Read
 * backwards from the slot written last, the times go from the newest to the oldest, and then come the empty
 * slots. The rank of a unit is the number of newer units: 0 for the newest.
 *
 * Times are rounded up to whole ticks, so that no unit comes back early. The functions below read any number
 * of slots, and ticks of any length. So a state needs no conversion when the numbers of its policy change.
 */
const LIMIT = 0
const WINDOW = 1
const BASE = 2
const NEXT = 3
const HEADER = 4

/** The upper bound of times in ticks after the base. Two times fit in the 53 bits of a double. */
const RANGE = 2 ** 26
/** The most ticks in a window. The base moves at most once in that many ticks. */
const WINDOW_TICKS = 2 ** 25

/** The numbers that a policy writes its states under. */
export interface LogNumbers {
  readonly limit: number
  readonly windowMs: number
}

/** Returns the length of a tick in milliseconds, a power of two: 1 for a window of up to 9.3 hours. */
function tickFor(windowMs: number): number {
  let tickMs = 1
  while (tickMs * WINDOW_TICKS < windowMs) tickMs *= 2
  return tickMs
}

function tickOf(log: State): number {
  return tickFor(log[WINDOW] as number)
}

/** Returns how many numbers the state of a limit has. */
export function widthFor(limit: number): number {
  return HEADER + Math.ceil(limit / 2)
}

/** Returns a time, rounded up to a tick of a log. */
export function roundUp(log: State, atMs: number): number {
  const tickMs = tickOf(log)
  return Math.ceil(atMs / tickMs) * tickMs
}

function slotsOf(log: State): number {
  return 2 * (log.length - HEADER)
}

// The functions below cast, because a default for each read would make a decision slower.

/** Returns the slot that holds the unit of a rank. */
function slotAt(log: State, rank: number): number {
  const slot = (log[NEXT] as number) - 1 - rank
  return slot < 0 ? slot + slotsOf(log) : slot
}

/** Returns when the unit of a rank was taken, in milliseconds since the Unix epoch; `-Infinity` for none. */
export function timeAt(log: State, rank: number): number {
  const slot = slotAt(log, rank)
  const pair = log[HEADER + (slot >> 1)] as number
  const second = Math.floor(pair / RANGE)
  const ticks = (slot & 1) === 0 ? pair - second * RANGE : second
  return ticks === 0 ? Number.NEGATIVE_INFINITY : ((log[BASE] as number) + ticks) * tickOf(log)
}

function setSlot(log: number[], slot: number, ticks: number): void {
  const at = HEADER + (slot >> 1)
  const pair = log[at] as number
  const second = Math.floor(pair / RANGE)
  log[at] = (slot & 1) === 0 ? second * RANGE + ticks : ticks * RANGE + (pair - second * RANGE)
}

/** Returns how many units were taken after a time, by binary search. */
export function countAfter(log: State, atMs: number): number {
  let low = 0
  let high = slotsOf(log)
  while (low < high) {
    const middle = (low + high) >> 1
    if (timeAt(log, middle) > atMs) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Returns a log under the given numbers, with `count` units that are taken now, and as many of the newest
 * other units as it has room for. `log` must not have units that are later than now.
 */
export function append(log: State | undefined, count: number, numbers: LogNumbers, nowMs: number): State {
  const { limit, windowMs } = numbers
  const nowTick = Math.ceil(nowMs / tickFor(windowMs))
  const isInPlace = log !== undefined && log[LIMIT] === limit && log[WINDOW] === windowMs
  const after =
    isInPlace && nowTick - (log[BASE] as number) < RANGE ? log.slice() : rewrite(log, numbers, nowMs)
  for (let i = 0; i < count; i++) push(after, nowTick)
  return after
}

function push(log: number[], tick: number): void {
  const slot = log[NEXT] as number
  setSlot(log, slot, tick - (log[BASE] as number))
  log[NEXT] = slot + 1 === slotsOf(log) ? 0 : slot + 1
}

/** Returns a log without `count` units, beginning with this rank. All of them must exist. */
export function remove(log: State, rank: number, count: number): State {
  const after = log.slice()
  const ticksAt = (each: number) => timeAt(log, each) / tickOf(log) - (log[BASE] as number)
  for (let newer = rank - 1; newer >= 0; newer--) setSlot(after, slotAt(log, newer + count), ticksAt(newer))
  for (let empty = 0; empty < count; empty++) setSlot(after, slotAt(log, empty), 0)
  after[NEXT] = (slotAt(log, count) + 1) % slotsOf(log)
  return after
}

/** Returns the log itself; if it has units later than now, a log in which they were taken now. */
export function clampLog(log: State, nowMs: number): State {
  if (timeAt(log, 0) <= roundUp(log, nowMs)) return log
  return rewrite(log, { limit: log[LIMIT] as number, windowMs: log[WINDOW] as number }, nowMs)
}

/**
 * Returns a copy of a log under the given numbers, with now in the middle of the range of times. It has as
 * many of the newest units as it has room for. Units that are later than now count as taken now.
 */
function rewrite(log: State | undefined, { limit, windowMs }: LogNumbers, nowMs: number): number[] {
  const tickMs = tickFor(windowMs)
  const nowTick = Math.ceil(nowMs / tickMs)
  const base = nowTick - 1 - WINDOW_TICKS
  const copy = emptyLog({ limit, windowMs })
  copy[BASE] = base
  if (log === undefined) return copy
  for (let rank = slotsOf(log) - 1; rank >= 0; rank--) {
    const tick = Math.min(Math.ceil(timeAt(log, rank) / tickMs), nowTick)
    if (tick > base) push(copy, tick)
  }
  return copy
}

/** Returns a log without units, whose base is not set yet. */
export function emptyLog({ limit, windowMs }: LogNumbers): number[] {
  const log = new Array<number>(widthFor(limit)).fill(0)
  log[LIMIT] = limit
  log[WINDOW] = windowMs
  return log
}

/** Returns whether a state has as many numbers as its limit says. */
export function isLog(state: State): boolean {
  const limit = state[LIMIT] ?? 0
  return limit >= 1 && state.length === widthFor(limit)
}
