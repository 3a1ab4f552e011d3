import { COMBINED_LAYOUT, learnLayout } from './access-layout.js'
import { type Places, sourcesOf } from './access-places.js'
import { timeStartBefore, timeTextBefore } from './access-time.js'
import { closingQuote, decodeEscapes, endOfField, isQuoteAt } from './line-fields.js'
import { readHead } from './line-head.js'
import { type LineParts, lineParts } from './line-parts.js'
import type { FieldSources, LineReader } from './line-reader.js'
import { type ToUtc, timeParser } from './log-time.js'
import { type LineKind, type LoggedRequest, readRequestLine } from './request-line.js'

/** The most quoted fields before the request. */
const MAX_QUOTED = 16

/** Is in no line. */
const NO_TEXT = '\n'

interface FoundParts extends Pick<LineParts, 'timeMs' | 'headStart' | 'headEnd'> {
  readonly requestStart: number
}

/**
 * Reads lines in the common and the combined format of nginx and Apache, also with other fields between them
 * and with forwarded addresses:
 *
 *     192.0.2.7 - ada [10/Oct/2000:13:55:36 -0700] "GET /users?page=2 HTTP/1.1" 200 2326 "-" "curl/8"
 *
 * A line that begins with anything but a client or a time is unreadable. Envoy logs only a forwarded list. The time is the one before the
 * request: a client chooses its user name, spaces and brackets included, but servers escape quotes. Where
 * the forwarded list stands is learned from the first lines of a log.
 */
export class AccessLineReader implements LineReader {
  readonly #parseTime: (text: string) => number
  readonly #places: Places = { address: -1, forwarded: -1, user: -1, time: -1, request: -1 }
  #layout = COMBINED_LAYOUT

  /** The last text between a head and a request whose time names its zone: many lines have the same. */
  #zonedText = NO_TEXT
  #zonedMs = Number.NaN
  #isLocal = false

  constructor(toUtc: ToUtc = (localMs) => localMs) {
    this.#parseTime = timeParser((localMs) => {
      this.#isLocal = true
      return toUtc(localMs)
    })
  }

  read(line: string, into: LoggedRequest): LineKind {
    const kind = this.#readCommon(line, into)
    const isCertain = kind === 'request' || (kind !== undefined && this.#layout.requestAfter !== undefined)
    return isCertain ? kind : this.#readOther(line, into)
  }

  learn(lines: readonly string[]): void {
    this.#layout = learnLayout(lines, this.#parseTime)
  }

  sources(line: string): FieldSources {
    return sourcesOf(line, this.#places)
  }

  /** Reads a line in which a time stands right before a quote. Servers escape those that clients send. */
  #readCommon(line: string, into: LoggedRequest): LineKind | undefined {
    if ((this.#layout.requestAfter ?? 1) !== 1) return undefined
    let quote = closingQuote(line, 0)
    for (let i = 0; i < MAX_QUOTED && quote >= 0; i++) {
      const timeMs = this.#timeBefore(line, quote)
      if (!Number.isNaN(timeMs)) {
        const parts = { timeMs, headStart: 0, headEnd: this.#places.time, requestStart: quote }
        return this.#readParts(line, parts, into)
      }
      const end = closingQuote(line, quote + 1)
      quote = end < 0 ? -1 : closingQuote(line, end + 1)
    }
    return undefined
  }

  /** Returns the time right before a quote; `NaN` if there is none. */
  #timeBefore(line: string, quote: number): number {
    const zonedStart = quote - this.#zonedText.length
    const isSame = line.slice(zonedStart, quote) === this.#zonedText
    const start = isSame ? zonedStart : timeStartBefore(line, quote)
    this.#places.time = start
    if (isSame || start < 0) return isSame ? this.#zonedMs : Number.NaN
    this.#isLocal = false
    const timeMs = this.#parseTime(timeTextBefore(line, start, quote))
    if (this.#isLocal || Number.isNaN(timeMs)) return timeMs
    this.#zonedText = line.slice(start, quote)
    this.#zonedMs = timeMs
    return timeMs
  }

  #readOther(line: string, into: LoggedRequest): LineKind {
    const parts = lineParts(line, this.#parseTime, this.#layout.requestAfter)
    if (parts === undefined) return 'unreadable'
    this.#places.time = parts.timeStart
    return this.#readParts(line, { ...parts, requestStart: parts.request.start }, into)
  }

  #readParts(line: string, parts: FoundParts, into: LoggedRequest): LineKind {
    const { timeMs, headStart, headEnd, requestStart } = parts
    const requestEnd = closingQuote(line, requestStart + 1)
    const { forwardedAfter } = this.#layout
    if (requestEnd < 0) return 'unreadable'
    if (headStart >= headEnd && forwardedAfter !== undefined) clearHead(into, this.#places)
    else if (!readHead(line, headStart, headEnd, this.#layout, into, this.#places)) return 'unreadable'
    if (forwardedAfter !== undefined) readForwarded(line, requestEnd + 2, forwardedAfter, into, this.#places)
    into.timeMs = timeMs
    into.fields = undefined
    this.#places.request = requestStart
    return readRequestLine(decodeEscapes(line.slice(requestStart + 1, requestEnd)), into)
      ? 'request'
      : 'other'
  }
}

/** Removes what names a client before the request: some servers log only a forwarded list behind it. */
function clearHead(into: LoggedRequest, places: Places): void {
  into.address = ''
  into.forwarded = undefined
  into.user = undefined
  places.address = -1
  places.forwarded = -1
  places.user = -1
}

/** Reads the list that follows the request after that many fields, the first of which begins at `start`. */
function readForwarded(
  line: string,
  start: number,
  after: number,
  into: LoggedRequest,
  places: Places,
): void {
  let at = start
  for (let i = 1; i < after; i++) at = endOfField(line, at) + 1
  if (at >= line.length) return
  const end = endOfField(line, at)
  const text = isQuoteAt(line, at) ? line.slice(at + 1, end - 1) : line.slice(at, end)
  if (text === '-' && into.forwarded !== undefined) return
  into.forwarded = text
  places.forwarded = at
}
