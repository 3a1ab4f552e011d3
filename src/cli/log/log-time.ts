const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec'

/** No zone of the Earth is further from UTC (Line Islands, +14). */
const MAX_ZONE_HOURS = 14

/** The length of `10/Oct/2000:13:55:36 -0700`. */
export const LOG_TIME_LENGTH = 26

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

const MONTH_INDEXES: ReadonlySet<number> = new Set(Array.from({ length: 12 }, (_, month) => month))

/** Returns whether a month, from 0, has a day. */
function isDay(year: number, month: number, day: number): boolean {
  return MONTH_INDEXES.has(month) && day >= 1 && day <= new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
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
 * Creates a parser of the times in logs: a number, or a text with one, of seconds, milliseconds,
 * microseconds or nanoseconds since the Unix epoch; a date of ISO 8601, also as databases and loggers vary it;
 * a time of the common log format, of HTTP or of C (`ctime`), also with fractions; any of them in brackets. It returns
 * milliseconds, and `NaN` of anything else. `toUtc` gets a time without a zone as if it were in UTC.
 */
export function timeParser(toUtc: ToUtc = (localMs) => localMs): (value: unknown) => number {
  let lastText = '' // lines of one second often have the same
  let last = NO_TIME
  return function parseTime(value) {
    if (typeof value === 'number') return fromEpoch(value)
    if (typeof value !== 'string' || value.length > MAX_LENGTH) return Number.NaN
    if (value !== lastText) {
      lastText = value
      const bare = value.startsWith('[') && value.endsWith(']') ? value.slice(1, -1) : value
      last = parseTimeText(bare.replace(ZONE_NAME, '$1'))
    }
    return last.isLocal ? toUtc(last.timeMs) : last.timeMs
  }
}

/** Returns a time that names no zone, as if it were in UTC, in UTC. */
export type ToUtc = (localMs: number) => number

/** The longest text that is tried: a zone may have a name besides its offset. */
const MAX_LENGTH = 80
/** The name of a zone behind its offset, as Java writes it: `+01:00[Europe/Berlin]`. */
const ZONE_NAME = /(Z|[+-]\d\d:\d\d)\[[\w/+-]+\]$/

interface ParsedTime {
  readonly timeMs: number
  /** Whether it names no zone. */
  readonly isLocal: boolean
}

const NO_TIME: ParsedTime = { timeMs: Number.NaN, isLocal: false }

function parseTimeText(text: string): ParsedTime {
  if (/^\d+(?:\.\d+)?$/.test(text)) return { timeMs: fromEpoch(Number(text)), isLocal: false }
  if (text.length === LOG_TIME_LENGTH) {
    const timeMs = parseLogTime(text)
    if (!Number.isNaN(timeMs)) return { timeMs, isLocal: false }
  }
  const { year, month, monthName, day, time, fraction, zone } =
    (ISO.exec(text) ?? DAY_FIRST.exec(text) ?? CTIME.exec(text))?.groups ?? {}
  const monthIndex = monthName === undefined ? Number(month) - 1 : MONTHS.indexOf(monthName) / 3
  if (!isDay(Number(year), monthIndex, Number(day))) return NO_TIME
  const dateMs = Date.UTC(Number(year), monthIndex, Number(day))
  const timeMs = dateMs + timeOfDayMs(time, fraction) - zoneMs(zone)
  return timeMs > 0 ? { timeMs, isLocal: zone === undefined } : NO_TIME
}

/** A time, its fraction after a point or a comma, and a zone. */
const TIME = String.raw`(?<time>\d{2}:\d{2}(?::\d{2})?)(?:[.,](?<fraction>\d+))? ?(?<zone>UTC|GMT|Z|[+-]\d{2}(?::?\d{2})?)?`
/** As of ISO 8601. */
const ISO = new RegExp(String.raw`^(?<year>\d{4})[-/](?<month>\d{2})[-/](?<day>\d{2})[T ]${TIME}$`, 'i')
/** As of the common log format, and of HTTP. */
const DAY_FIRST = new RegExp(
  String.raw`^(?:[A-Z][a-z]{2}, )?(?<day>\d{2})[/ -](?<monthName>[A-Z][a-z]{2})[/ -](?<year>\d{4})[: ]${TIME}$`,
)

/** As C writes it, which names no zone: `Sun Nov 29 12:00:00.123456 2026`. */
const CTIME =
  /^[A-Z][a-z]{2} (?<monthName>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2})(?:[.,](?<fraction>\d+))? (?:(?<zone>UTC|GMT) )?(?<year>\d{4})$/

function timeOfDayMs(time = '', fraction = '0'): number {
  const [hour = 0, minute = 0, second = 0] = time.split(':').map(Number)
  if (hour > 23 || minute > 59 || second > 60) return Number.NaN
  return ((hour * 60 + minute) * 60 + second) * 1000 + Math.round(Number(`0.${fraction}`) * 1e6) / 1000
}

function zoneMs(zone = 'Z'): number {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? []
  if (Number(hours) > MAX_ZONE_HOURS || Number(minutes) > 59) return Number.NaN
  return (sign === '-' ? -1 : 1) * (60 * Number(hours) + Number(minutes)) * 60_000
}

function fromEpoch(value: number): number {
  const [, unitsPerMs = Number.NaN] = UNITS.find(([below]) => value < below) ?? []
  const timeMs = value / unitsPerMs
  return timeMs <= MAX_MS ? Math.round(timeMs * 1000) / 1000 : Number.NaN
}
