import { beginsAsTime } from './access-time.js'
import { fieldsOf, isQuoteAt, type LineField, textOfField } from './line-fields.js'

/** Where the parts of an access line lie. */
export interface LineParts {
  readonly timeMs: number
  readonly timeStart: number
  /** What names the client: before the time, or after one that the line begins with. */
  readonly headStart: number
  readonly headEnd: number
  /** The quoted field with the request line. */
  readonly request: LineField
  /** How many fields after the time it stands: 1 for the next. */
  readonly requestAfter: number
}

interface TimeField {
  readonly timeMs: number
  readonly isBracketed: boolean
  /** Its first field, and the one after it. */
  readonly first: number
  readonly next: number
}

/** The most fields that a time without brackets takes, as `2026-11-28 10:00:00 +0000` does. */
const MAX_TIME_FIELDS = 3

/**
 * Finds the parts of an access line that may have other fields between them; `undefined` if it is none.
 * `requestAfter` is how many fields after the time the request stands, if that is known. Otherwise it is the
 * first quoted field that looks like a request line, or the one after the time.
 */
export function lineParts(
  line: string,
  parseTime: (text: string) => number,
  requestAfter?: number,
): LineParts | undefined {
  const fields = fieldsOf(line)
  const times = timesOf(line, fields, parseTime)
  const requestAt = requestIndex(line, fields, times[0], requestAfter)
  const request = fields[requestAt]
  const time = timeBefore(times, requestAt)
  if (request === undefined || time === undefined) return undefined
  const timeStart = fields[time.first]?.start ?? 0
  const isFirst = time.first === 0
  return {
    timeMs: time.timeMs,
    timeStart,
    headStart: isFirst ? (fields[time.next]?.start ?? 0) : 0,
    headEnd: isFirst ? request.start : timeStart,
    request,
    requestAfter: requestAt - time.next + 1,
  }
}

/** Returns the times among fields. No time is read from a quoted field: clients choose most of them. */
function timesOf(
  line: string,
  fields: readonly LineField[],
  parseTime: (text: string) => number,
): TimeField[] {
  const times: TimeField[] = []
  for (let first = 0; first < fields.length; first++) {
    const found = timeAt(line, fields, first, parseTime)
    if (found === undefined) continue
    times.push(found)
    first = found.next - 1
  }
  return times
}

function timeAt(
  line: string,
  fields: readonly LineField[],
  first: number,
  parseTime: (text: string) => number,
): TimeField | undefined {
  const field = fields[first] as LineField
  if (field.opener === '[') {
    const timeMs = parseTime(textOfField(line, field))
    return Number.isNaN(timeMs) ? undefined : { timeMs, isBracketed: true, first, next: first + 1 }
  }
  if (field.opener !== '' || !beginsAsTime(line.slice(field.start, field.start + 30))) return undefined
  for (let next = Math.min(first + MAX_TIME_FIELDS, fields.length); next > first; next--) {
    const last = fields[next - 1] as LineField
    const isWhole = last.opener === '' && !/^[+-]\d/.test(line.slice(last.end + 1, last.end + 3))
    const timeMs = isWhole ? parseTime(line.slice(field.start, last.end)) : Number.NaN
    if (!Number.isNaN(timeMs)) return { timeMs, isBracketed: false, first, next }
  }
  return undefined
}

/** Returns which field is the request; -1 if none is. */
function requestIndex(
  line: string,
  fields: readonly LineField[],
  firstTime: TimeField | undefined,
  requestAfter: number | undefined,
): number {
  if (firstTime === undefined) return -1
  const isQuoted = ({ opener }: LineField, index: number) => index >= firstTime.next && opener === '"'
  const looksRight = (field: LineField, index: number) =>
    isQuoted(field, index) && LIKE_REQUEST.test(line.slice(field.start, field.start + 40))
  const known = firstTime.next - 1 + (requestAfter ?? 0)
  if (requestAfter !== undefined && isQuoteAt(line, fields[known]?.start ?? -1)) return known
  const likely = requestAfter === undefined || requestAfter > 1 ? fields.findIndex(looksRight) : -1
  return likely >= 0 ? likely : fields.findIndex(isQuoted)
}

const LIKE_REQUEST = /^"[A-Z]{3,20} (?:\/|\*|https?:)/i

/**
 * Returns the time of a request. A client may have put others into its user name, which stands between: one
 * in brackets at the beginning of a line counts, or else the last one in brackets, or else the first.
 */
function timeBefore(times: readonly TimeField[], requestAt: number): TimeField | undefined {
  const before = times.filter(({ next }) => next <= requestAt)
  const [first] = before
  if (first === undefined || (first.first === 0 && first.isBracketed)) return first
  return before.findLast(({ isBracketed }) => isBracketed) ?? first
}
