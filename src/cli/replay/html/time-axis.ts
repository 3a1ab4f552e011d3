const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The distances between times on an axis; beyond a day they double, as the widths of bars do. */
const STEPS_MS = [
  ...[SECOND, 5 * SECOND, 15 * SECOND, 30 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE],
  ...[HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY],
]
/** The most times that fit below a chart. */
const MAX_TICKS = 6

/** A time on an axis. */
export interface Tick {
  /** Which bar begins at it. */
  readonly bar: number
  readonly label: string
}

/**
 * Returns round times for bars that begin at `startMs` and are `widthMs` wide, in UTC: the date at midnight,
 * the time of day at others. If no bar begins at a round time, the first is labeled.
 */
export function timeTicks(startMs: number, widthMs: number, bars: number): readonly Tick[] {
  const stepMs = stepFor(widthMs, bars)
  const ticks: Tick[] = []
  for (let bar = 0; bar < bars; bar++) {
    const atMs = startMs + bar * widthMs
    if (atMs % stepMs === 0) ticks.push({ bar, label: label(atMs, stepMs) })
  }
  return ticks.length > 0 || bars === 0 ? ticks : [{ bar: 0, label: label(startMs, widthMs) }]
}

function stepFor(widthMs: number, bars: number): number {
  const leastMs = Math.max(widthMs, (bars * widthMs) / MAX_TICKS)
  const roundMs = STEPS_MS.find((stepMs) => stepMs >= leastMs && stepMs % widthMs === 0)
  return roundMs ?? widthMs * 2 ** Math.ceil(Math.log2(leastMs / widthMs))
}

function label(atMs: number, stepMs: number): string {
  const iso = new Date(atMs).toISOString()
  if (atMs % DAY === 0) return iso.slice(0, 10)
  return iso.slice(11, stepMs % MINUTE === 0 ? 16 : 19)
}
