const whole = new Intl.NumberFormat('en')
const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
]

/** Returns a count with separators. */
export function count(value) {
  return whole.format(value)
}

/** Returns a number of clients. From 1,000 on it is an estimate, so it has two digits then. */
export function clientCount(value) {
  return value < 1000 ? count(value) : `about ${count(Number(value.toPrecision(2)))}`
}

/** Returns a rate, with a digit after the point where it is small. */
export function rate(value) {
  return value === 0 || value >= 10 ? count(Math.round(value)) : value.toFixed(value < 0.1 ? 2 : 1)
}

export function percent(share) {
  return `${share > 0 && share < 0.01 ? '<1' : Math.round(100 * share)} %`
}

/** Returns a length of time, rounded to two units; `null` is never. */
export function duration(ms) {
  if (ms === null) return 'never by itself'
  if (ms < 1000) return `${Math.ceil(ms)} ms`
  const at = UNITS.findIndex(([size]) => ms >= size)
  const [size, unit] = UNITS[at]
  const [nextSize, nextUnit] = UNITS[at + 1] ?? [size, unit]
  const rounded = Math.ceil(ms / nextSize) * nextSize
  const rest = Math.round((rounded % size) / nextSize)
  return `${Math.floor(rounded / size)} ${unit}${rest > 0 && nextUnit !== unit ? ` ${rest} ${nextUnit}` : ''}`
}

/** Returns a time on the clock of the reader. */
export function clock(atMs) {
  return new Date(atMs).toLocaleTimeString('en-GB')
}

/** Returns a latency in milliseconds. */
export function latency(ms) {
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
}

const KINDS = {
  'token-bucket': 'token bucket',
  'sliding-window': 'sliding window',
  'sliding-log': 'sliding log',
  'fixed-window': 'fixed window',
  'first-request-window': 'window from the first request',
  quota: 'quota',
  consecutive: 'in a row',
  concurrency: 'at once',
}

/** Returns what a limit allows, such as `100 per 1 min, token bucket`. */
export function policy({ kind, limit, windowMs }) {
  const isBan = kind.startsWith('ban-')
  const name = KINDS[kind.replace(/^ban-/, '')] ?? ''
  const numbers = windowMs === null ? count(limit) : `${count(limit)} per ${duration(windowMs)}`
  return [
    windowMs === null ? `${numbers} ${name}`.trim() : numbers,
    windowMs === null ? '' : name,
    isBan ? 'bans' : '',
  ]
    .filter(Boolean)
    .join(', ')
}
