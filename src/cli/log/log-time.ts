const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec'

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
export function parseLogTime(text: string): number {
  const month = MONTHS.indexOf(text.slice(3, 6))
  if (text.length !== LOG_TIME_LENGTH || month < 0 || month % 3 !== 0 || !hasSeparators(text))
    return Number.NaN
  const [day, year] = [digits(text, 0, 2), digits(text, 7, 11)]
  const [hour, minute, second] = [digits(text, 12, 14), digits(text, 15, 17), digits(text, 18, 20)]
  const [zoneHours, zoneMinutes] = [digits(text, 22, 24), digits(text, 24, 26)]
  const isPossible = day >= 1 && day <= 31 && hour < 24 && minute < 60 && second <= 60
  if (!isPossible) return Number.NaN
  const zoneMs = (60 * zoneHours + zoneMinutes) * 60_000
  const localMs = Date.UTC(year, month / 3, day, hour, minute, second)
  return text[21] === '-' ? localMs + zoneMs : localMs - zoneMs
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

/** Epoch seconds above this would be after the year 5100: such a number is milliseconds. */
const MAX_SECONDS = 1e11

/**
 * Returns the milliseconds of a time in a JSON line: a number, or a text with one, of seconds or
 * milliseconds since the Unix epoch; a date of ISO 8601, in UTC if it names no zone; a time of the common
 * log format. `NaN` of anything else.
 */
export function parseJsonTime(value: unknown): number {
  if (typeof value === 'number') return fromEpoch(value)
  if (typeof value !== 'string' || value.length > 40) return Number.NaN
  if (/^\d+(?:\.\d+)?$/.test(value)) return fromEpoch(Number(value))
  if (/^\d{4}-\d{2}-\d{2}[T ]\d{2}:/.test(value)) return Date.parse(ZONE.test(value) ? value : `${value}Z`)
  return parseLogTime(value)
}

/** Without one, `Date.parse` would take the zone of this machine. */
const ZONE = /(?:z|[+-]\d{2}:?\d{2})$/i

function fromEpoch(value: number): number {
  if (!(value > 0) || value > 8.64e15) return Number.NaN
  return value < MAX_SECONDS ? Math.round(value * 1000) : value
}
