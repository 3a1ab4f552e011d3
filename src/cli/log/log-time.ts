const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec'

/** No zone of the Earth is further from UTC (Line Islands, +14). */
const MAX_ZONE_HOURS = 14

/** The length of `10/Oct/2000:13:55:36 -0700`. */
export const LOG_TIME_LENGTH = 26

/** Creates a parser of the times of the common log format. It parses each distinct second once. */
export function logTimeParser(): (text: string) => number {
  let lastText = ''
  let lastMs = Number.NaN
  return function parse(text) {
    if (text !== lastText) {
      lastMs = parseLogTime(text)
      lastText = text
    }
    return lastMs
  }
}

/** Returns the milliseconds of a time such as `10/Oct/2000:13:55:36 -0700`; `NaN` of anything else. */
function parseLogTime(text: string): number {
  const month = MONTHS.indexOf(text.slice(3, 6))
  if (text.length !== LOG_TIME_LENGTH || month < 0 || month % 3 !== 0 || !hasSeparators(text))
    return Number.NaN
  const [day, year] = [digits(text, 0, 2), digits(text, 7, 11)]
  const [hour, minute, second] = [digits(text, 12, 14), digits(text, 15, 17), digits(text, 18, 20)]
  const [zoneHours, zoneMinutes] = [digits(text, 22, 24), digits(text, 24, 26)]
  const isPossible = year >= 1970 && isDay(year, month / 3, day) && hour < 24 && minute < 60 && second <= 60
  if (!isPossible || zoneHours > MAX_ZONE_HOURS || zoneMinutes > 59) return Number.NaN
  const zoneMs = (60 * zoneHours + zoneMinutes) * 60_000
  const localMs = Date.UTC(year, month / 3, day, hour, minute, second)
  return positive(text[21] === '-' ? localMs + zoneMs : localMs - zoneMs)
}

/** Returns whether a month, from 0, has a day. */
function isDay(year: number, month: number, day: number): boolean {
  return day >= 1 && day <= new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
}

/** Returns a time; `NaN` for one that is not after 1970, as of a device that has just started. */
function positive(timeMs: number): number {
  return timeMs > 0 ? timeMs : Number.NaN
}

function hasSeparators(text: string): boolean {
  const at = [text[2], text[6], text[11], text[14], text[17], text[20]].join('')
  return at === '//::: ' && (text[21] === '+' || text[21] === '-')
}

/** Returns the number between two places of a text; `NaN` if not all of them are digits. */
function digits(text: string, start: number, end: number): number {
  let value = 0
  for (let i = start; i < end; i++) {
    const digit = text.charCodeAt(i) - 48
    if (!(digit >= 0 && digit <= 9)) return Number.NaN
    value = 10 * value + digit
  }
  return value
}

/** Numbers since the Unix epoch by their size: from 1973 to 9999 each is of one unit only. */
const UNITS: readonly (readonly [below: number, unitsPerMs: number])[] = [
  [1e8, Number.NaN], // no time, such as a duration
  [1e11, 1e-3],
  [1e14, 1],
  [1e17, 1e3],
  [1e20, 1e6],
]
const MAX_MS = Date.UTC(9999, 11, 31)

/**
 * Returns the milliseconds of a time in a JSON line: a number, or a text with one, of seconds, milliseconds,
 * microseconds or nanoseconds since the Unix epoch; a date of ISO 8601, in UTC if it names no zone, also as
 * databases and loggers vary it; a time of the common log format. `NaN` of anything else.
 */
export function parseJsonTime(value: unknown): number {
  if (typeof value === 'number') return fromEpoch(value)
  if (typeof value !== 'string' || value.length > 40) return Number.NaN
  if (value !== lastText) {
    lastText = value
    lastMs = parseTimeText(value)
  }
  return lastMs
}

/** The last text that was parsed: lines of one second often have the same. */
let lastText = ''
let lastMs = Number.NaN

function parseTimeText(value: string): number {
  if (/^\d+(?:\.\d+)?$/.test(value)) return fromEpoch(Number(value))
  const [, year, month, day, time = '', zone = 'Z'] = ISO.exec(value) ?? []
  if (year === undefined) return parseLogTime(value)
  if (!isDay(Number(year), Number(month) - 1, Number(day))) return Number.NaN
  if (Number(zone.slice(1, 3)) > MAX_ZONE_HOURS) return Number.NaN
  const fraction = time.replace(',', '.')
  return positive(
    Date.parse(`${year}-${month}-${day}T${fraction}${/^[+-]\d\d$/.test(zone) ? `${zone}:00` : zone}`),
  )
}

/** A date, a time with a fraction after a point or a comma, and a zone. */
const ISO =
  /^(\d{4})[-/](\d{2})[-/](\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?) ?(?:UTC|(z|[+-]\d{2}(?::?\d{2})?))?$/i

function fromEpoch(value: number): number {
  const [, unitsPerMs = Number.NaN] = UNITS.find(([below]) => value < below) ?? []
  const timeMs = value / unitsPerMs
  return timeMs <= MAX_MS ? Math.round(timeMs * 1000) / 1000 : Number.NaN
}
