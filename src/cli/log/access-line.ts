import { COMBINED_LAYOUT, learnLayout } from './access-layout.js'
import { accessTimeParser } from './access-time.js'
import { closingQuote, endOfField, fieldsOf, isQuoteAt, unescaped } from './line-fields.js'
import { type HeadPlaces, readHead } from './line-head.js'
import { type LineParts, lineParts } from './line-parts.js'
import type { FieldSources, LineReader } from './line-reader.js'
import { LOG_TIME_LENGTH } from './log-time.js'
import { type LineKind, type LoggedRequest, readRequestLine } from './request-line.js'

const OPEN_BRACKET = 91

interface FoundParts extends Pick<LineParts, 'timeMs' | 'headStart' | 'headEnd'> {
  readonly requestStart: number
}

/**
 * Creates a reader of lines in the common and the combined format of nginx and Apache, also with other fields
 * between them and with forwarded addresses:
 *
 *     192.0.2.7 - ada [10/Oct/2000:13:55:36 -0700] "GET /users?page=2 HTTP/1.1" 200 2326 "-" "curl/8"
 *
 * A line that begins with anything but a client or a time is unreadable. The time is the one before the
 * request: a client chooses its user name, spaces and brackets included, but servers escape quotes. Where
 * the forwarded list stands is learned from the first lines of a log.
 */
export function accessLineReader(): LineReader {
  const parseTime = accessTimeParser()
  const places: HeadPlaces & { time: number; request: number } = {
    ...{ address: -1, forwarded: -1, user: -1, time: -1, request: -1 },
  }
  let layout = COMBINED_LAYOUT

  /** Reads a line in which a time in brackets stands right before the first quote. */
  function readCommon(line: string, into: LoggedRequest): LineKind | undefined {
    const timeEnd = line.indexOf('] "')
    const timeStart = timeEnd - LOG_TIME_LENGTH
    if (timeStart < 2 || line.charCodeAt(timeStart - 1) !== OPEN_BRACKET) return undefined
    if (line.indexOf('"') !== timeEnd + 2 || (layout.requestAfter ?? 1) !== 1) return undefined
    const timeMs = parseTime(line.slice(timeStart, timeEnd))
    if (Number.isNaN(timeMs)) return undefined
    places.time = timeStart - 1
    return readParts(line, { timeMs, headStart: 0, headEnd: timeStart - 1, requestStart: timeEnd + 2 }, into)
  }

  function readOther(line: string, into: LoggedRequest): LineKind {
    const parts = lineParts(line, parseTime, layout.requestAfter)
    if (parts === undefined) return 'unreadable'
    places.time = parts.timeStart
    return readParts(line, { ...parts, requestStart: parts.request.start }, into)
  }

  function readParts(line: string, parts: FoundParts, into: LoggedRequest): LineKind {
    const { timeMs, headStart, headEnd, requestStart } = parts
    const requestEnd = closingQuote(line, requestStart + 1)
    if (requestEnd < 0 || !readHead(line, headStart, headEnd, layout, into, places)) return 'unreadable'
    if (layout.forwardedAfter !== undefined) readForwarded(line, requestEnd + 1, layout.forwardedAfter, into)
    into.timeMs = timeMs
    into.fields = undefined
    places.request = requestStart
    return readRequestLine(unescaped(line.slice(requestStart + 1, requestEnd)), into) ? 'request' : 'other'
  }

  /** Reads the list that stands so many fields after the request. */
  function readForwarded(line: string, requestEnd: number, after: number, into: LoggedRequest): void {
    let start = requestEnd + 1
    for (let i = 1; i < after; i++) start = endOfField(line, start) + 1
    if (start >= line.length) return
    const end = endOfField(line, start)
    const text = isQuoteAt(line, start) ? line.slice(start + 1, end - 1) : line.slice(start, end)
    if (text === '-' && into.forwarded !== undefined) return
    into.forwarded = text
    places.forwarded = start
  }

  return {
    read(line, into) {
      const kind = readCommon(line, into)
      const isCertain = kind === 'request' || (kind !== undefined && layout.requestAfter !== undefined)
      return isCertain ? kind : readOther(line, into)
    },
    learn(lines) {
      layout = learnLayout(lines, parseTime)
    },
    sources: (line) => sourcesOf(line, places),
  }
}

/** Returns the numbers of the fields that begin at these places. */
function sourcesOf(line: string, places: HeadPlaces & { time: number; request: number }): FieldSources {
  const fields = fieldsOf(line)
  const nameOf = (place: number) => {
    const index = fields.findLastIndex(({ start }) => start <= place)
    return place < 0 || index < 0 ? undefined : `field ${index + 1}`
  }
  const request = nameOf(places.request)
  return {
    address: nameOf(places.address),
    forwarded: nameOf(places.forwarded),
    user: nameOf(places.user),
    time: nameOf(places.time),
    method: request,
    path: request,
  }
}
