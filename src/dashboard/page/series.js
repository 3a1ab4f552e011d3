const KEPT_MS = 900_000
const DAY_MS = 86_400_000

/** Returns a series with the steps that a frame brings, without those that are older than 15 minutes. */
export function extended(series, news) {
  if (series === undefined || series.stepMs !== news.stepMs || news.fromMs <= series.fromMs) return news
  const { stepMs, fromMs } = series
  const at = Math.round((news.fromMs - fromMs) / stepMs)
  const join = (old, added) => {
    const before = Array.from({ length: at }, (_, i) => old[i] ?? null)
    return [...before, ...added].slice(-KEPT_MS / stepMs)
  }
  const allowed = join(series.allowed, news.allowed)
  const dropped = at + news.allowed.length - allowed.length
  const denied = join(series.denied, news.denied)
  return { ...news, fromMs: fromMs + dropped * stepMs, allowed, denied }
}

/** Returns the steps of a day before, as if they were of today: from `fromMs` on, as many as there are. */
export function dayLater(series) {
  return { ...series, fromMs: series.fromMs + DAY_MS }
}

/** Returns the rates of a series, a second, step by step: what was denied, and all; `null` if it is not known. */
export function ratesOf({ stepMs, allowed, denied }) {
  const seconds = stepMs / 1000
  return allowed.map((count, i) =>
    count === null || denied[i] === null
      ? null
      : { denied: denied[i] / seconds, all: (count + denied[i]) / seconds },
  )
}

/** Returns the largest rate of several lists of rates; at least `atLeast`. */
export function largestOf(lists, atLeast = 0) {
  let largest = atLeast
  for (const rates of lists) for (const each of rates) if (each && each.all > largest) largest = each.all
  return largest
}

/**
 * Returns the path of a line through values, which breaks where there is none. With `floor`, it is an area down
 * to that height. A single value is a line of one step, so that it can be seen.
 */
export function pathOf(values, x, y, floor) {
  let path = ''
  for (let i = 0; i < values.length; i++) {
    if (values[i] == null) continue
    const first = i
    while (i + 1 < values.length && values[i + 1] != null) i++
    const points = []
    for (let at = first; at <= i; at++) points.push(`${round(x(at))} ${round(y(values[at]))}`)
    if (first === i) points.push(`${round(x(i + 0.6))} ${round(y(values[i]))}`)
    const end = first === i ? x(i + 0.6) : x(i)
    path += `M${points.join('L')}`
    if (floor !== undefined) path += `L${round(end)} ${floor}L${round(x(first))} ${floor}Z`
  }
  return path
}

const round = (value) => Math.round(value * 10) / 10
