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

/** Returns a number with what it counts: `1 client`, `2 clients`. */
export function counted(value, noun) {
  return `${count(value)} ${noun}${value === 1 ? '' : noun.endsWith('s') ? 'es' : 's'}`
}

/** Returns a rate, with a digit after the point where it is small. */
export function rate(value) {
  if (value === 0 || value >= 9.95) return count(Math.round(value))
  if (value < 0.01) return '<0.01'
  return value < 0.095 ? value.toFixed(2) : value.toFixed(1)
}

export function percent(share) {
  if (share > 0 && share < 0.01) return '<1%'
  return `${share < 1 && share > 0.99 ? 99 : Math.round(100 * share)}%`
}

/** Returns a length of time, rounded up to two units; `null` is never. */
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

/** Returns how long something has lasted, in one unit: it says the same for a while. */
export function age(ms) {
  const [size, unit] = UNITS.find(([each]) => ms >= each) ?? [1000, 's']
  return `${Math.max(0, Math.floor(ms / size))} ${unit}`
}

/** What began within this time has only just begun. */
const JUST_MS = 5000

/** Returns for how long something has lasted; nothing if it has just begun, or if that is not known. */
export function sinceText(sinceMs, atMs) {
  return sinceMs === undefined || atMs - sinceMs < JUST_MS ? '' : `for ${age(atMs - sinceMs)}`
}

/** Returns a time on the clock of the reader. */
export function clock(atMs) {
  return new Date(atMs).toLocaleTimeString('en-GB')
}

/** Returns a time of day to the minute, with the date if it is not today. */
export function moment(atMs, nowMs = Date.now()) {
  const time = clock(atMs).slice(0, 5)
  const date = new Date(atMs)
  if (date.toDateString() === new Date(nowMs).toDateString()) return time
  return `${date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}, ${time}`
}

/** Returns a text without its middle if it has more characters than `max`. */
export function shortened(text, max = 60) {
  const characters = Array.from(text)
  if (characters.length <= max) return text
  const half = Math.floor((max - 1) / 2)
  return `${characters.slice(0, half).join('')}…${characters.slice(-half).join('')}`
}

/**
 * Returns a text that a client has chosen, as it can be shown. Characters that only turn the direction of others
 * are spelled out: `gnp.exe` must not read `exe.png`.
 */
export function spelled(text) {
  return text.replace(
    /[\p{Cc}\p{Bidi_Control}]/gu,
    (control) => `\\u{${control.codePointAt(0).toString(16)}}`,
  )
}

/**
 * Returns a sentence as it can be shown, with its times, such as `{1764412740000}`, on the clock of the reader. What
 * clients are called may be in it.
 */
export function withTimes(sentence, nowMs = Date.now()) {
  return spelled(sentence).replace(/(?<!\\u)\{(\d{1,15})\}/g, (_, ms) => moment(Number(ms), nowMs))
}

/** Returns whether a text is an address or a range of them, as the page writes networks. */
export function isNetwork(text) {
  return /^(?:\d{1,3}(?:\.\d{1,3}){3}|(?=.*:.*:)[\da-f:]+)(?:\/\d{1,3})?$/i.test(text.trim())
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
