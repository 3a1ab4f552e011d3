import { parseAddress } from '../../keys/address.js'
import { LOG_TIME_LENGTH, logTimeParser } from './log-time.js'
import { isLoggedClient } from './logged-client.js'
import { type LineKind, type LoggedRequest, readRequestLine } from './request-line.js'

/**
 * Creates a reader of lines in the common and the combined format of nginx and Apache:
 *
 *     192.0.2.7 - ada [10/Oct/2000:13:55:36 -0700] "GET /users?page=2 HTTP/1.1" 200 2326 "-" "curl/8"
 *
 * What follows the request is not read. A line that begins with anything but a client is unreadable. A
 * virtual host before the address is skipped. The time is the one before the first quote: a client chooses
 * its user name, spaces and brackets included, but servers escape quotes.
 */
export function accessLineReader(): (line: string, into: LoggedRequest) => LineKind {
  const parseTime = logTimeParser()

  return function readAccessLine(line, into) {
    const timeEnd = line.indexOf('] "')
    const timeStart = timeEnd - LOG_TIME_LENGTH
    if (timeStart < 2 || line.charCodeAt(timeStart - 1) !== OPEN_BRACKET) return 'unreadable'
    const timeMs = parseTime(line.slice(timeStart, timeEnd))
    if (Number.isNaN(timeMs) || !readClient(line, timeStart - 1, into)) return 'unreadable'
    const requestStart = timeEnd + 3
    const requestEnd = closingQuote(line, requestStart)
    if (requestEnd < 0) return 'unreadable'
    into.timeMs = timeMs
    into.fields = undefined
    return readRequestLine(unescaped(line.slice(requestStart, requestEnd)), into) ? 'request' : 'other'
  }
}

const OPEN_BRACKET = 91
const BACKSLASH = 92
const COMMA = 44

/**
 * Reads what comes before the time: address, identity (never used) and user. Returns whether all are there.
 */
function readClient(line: string, end: number, into: LoggedRequest): boolean {
  let addressStart = startOfLastAddress(line, end)
  let addressEnd = line.indexOf(' ', addressStart)
  let identEnd = line.indexOf(' ', addressEnd + 1)
  if (addressEnd <= 0 || identEnd < 0) return false
  const second = line.slice(addressEnd + 1, identEnd)
  if (second !== '-' && isBehindHost(line.slice(addressStart, addressEnd), second)) {
    addressStart = addressEnd + 1
    addressEnd = identEnd
    identEnd = line.indexOf(' ', addressEnd + 1)
  }
  if (identEnd < 0 || identEnd >= end - 1 || line.charCodeAt(end - 1) !== 32) return false
  const user = line.slice(identEnd + 1, end - 1)
  into.address = line.slice(addressStart, addressEnd)
  if (!isLoggedClient(into.address)) return false
  into.user = user === '-' || user === '' || user === '""' ? undefined : unescaped(user)
  return true
}

/**
 * Returns where the last address of a list such as `198.51.100.7, 10.0.0.1` begins: the nearest proxy wrote
 * it.
 */
function startOfLastAddress(line: string, end: number): number {
  let start = 0
  for (let at = line.indexOf(' '); at > start && at < end; at = line.indexOf(' ', start)) {
    if (line.charCodeAt(at - 1) !== COMMA) break
    start = at + 1
  }
  return start
}

/** Returns whether the first of two texts is a virtual host, and the second the client. */
function isBehindHost(first: string, second: string): boolean {
  if (parseAddress(first) !== undefined || !HOST.test(first)) return false
  return parseAddress(second) !== undefined || (/[.:]/.test(first) && DOTTED_NAME.test(second))
}

/** A name, such as `shop.example` or `localhost`, with or without a port. */
const HOST = /^[a-z\d_-]+(?:\.[a-z\d_-]+)*(?::\d{1,5})?$/i
/** The name of a client. A name without a dot may be an identity of RFC 1413, which has the same place. */
const DOTTED_NAME = /^[a-z\d_-]+(?:\.[a-z\d_-]+)+$/i

/**
 * Returns where the quoted text that begins at `start` ends; -1 if it does not. A backslash escapes a
 * quote.
 */
function closingQuote(line: string, start: number): number {
  for (let at = line.indexOf('"', start); at >= 0; at = line.indexOf('"', at + 1)) {
    let backslashes = 0
    while (at - backslashes > start && line.charCodeAt(at - backslashes - 1) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at
  }
  return -1
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', v: '\v', f: '\f' }

/** Returns a text as it was before nginx (`\x22`) or Apache (`\"`) escaped it, in UTF-8. */
function unescaped(text: string): string {
  if (!NEEDS_DECODING.test(text)) return text
  const bytes = text.replace(/\\(?:x([\da-f]{2})|(.))/gis, (_, hex: string | undefined, char: string) =>
    hex === undefined ? (ESCAPES[char] ?? char) : String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

/** A backslash, or a byte of UTF-8: lines are read as Latin-1. */
const NEEDS_DECODING = /[\\\u0080-\u00ff]/
