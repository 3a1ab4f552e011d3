import { LOG_TIME_LENGTH, logTimeParser, parseJsonTime } from './log-time.js'

/**
 * Creates a parser of the times in access lines: of the common log format, also with a fraction, with a colon
 * in the zone or without a zone, of ISO 8601, and of seconds since the Unix epoch. Returns milliseconds,
 * `NaN` for anything else. It parses the times of the common log format once for each distinct second.
 */
export function accessTimeParser(): (text: string) => number {
  const parseLogTime = logTimeParser()
  return function parse(text) {
    if (text.length === LOG_TIME_LENGTH) {
      const timeMs = parseLogTime(text)
      if (!Number.isNaN(timeMs)) return timeMs
    }
    return text.length > MAX_LENGTH ? Number.NaN : parseOtherTime(text)
  }
}

const MAX_LENGTH = 40

function parseOtherTime(text: string): number {
  const [, day, name = '', year, clock, fraction = '', zone = ''] = WITH_MONTH_NAME.exec(text) ?? []
  if (day === undefined) return parseJsonTime(text)
  const month = String(MONTHS.indexOf(name) + 1).padStart(2, '0')
  const colonZone = zone.replace(/^([+-]\d\d)(\d\d)$/, '$1:$2')
  return parseJsonTime(`${year}-${month}-${day}T${clock}${fraction}${colonZone}`)
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** As in `28/Nov/2026:10:00:00.123 +0000`. */
const WITH_MONTH_NAME =
  /^(\d\d)[/ -]([A-Z][a-z]{2})[/ -](\d{4})[: ](\d\d:\d\d:\d\d)([.,]\d{1,9})?(?: ?(Z|[+-]\d\d:?\d\d))?$/

/** The beginning of a time, before which no other number is mistaken for one. */
const BEGIN = /^(?:\d{4}[-/]\d\d[-/]\d\d(?:[T ]|$)|\d\d[/ -][A-Z][a-z]{2}[/ -]\d{4}(?:[: ]|$)|\d{10}\.\d{3})/

/** Returns whether a text begins as a time does that stands in no brackets. */
export function beginsAsTime(text: string): boolean {
  return BEGIN.test(text)
}
