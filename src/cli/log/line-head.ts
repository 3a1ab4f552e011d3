import { endsWithAddress, isForwardedList } from './client-address.js'
import { type HeadPlaces, readClient, setAddress, setForwarded, textAt } from './head-client.js'
import { fieldsOf, type LineField, textOfField, userOf } from './line-fields.js'
import { isLoggedClient } from './logged-client.js'
import type { LoggedRequest } from './request-line.js'

/** What the lines of a log have in common before their times, as far as single lines do not show it. */
export interface HeadLayout {
  /** Whether a forwarded list stands behind the identity: `10.0.3.4 - 198.51.100.7 - ada`. */
  readonly hasListAfterIdentity: boolean
  /** How many other fields stand behind the user. */
  readonly fieldsAfterUser: number
}

const SPACE = 32
const COMMA = 44
const DASH = 45

/**
 * Reads what names the client: in the common format its address, its identity by RFC 1413 (never used) and
 * its user. Other logs have a forwarded list, a virtual host, a port or a request id between them. Returns
 * whether it begins with a client.
 */
export function readHead(
  line: string,
  start: number,
  end: number,
  layout: HeadLayout,
  into: LoggedRequest,
  places: HeadPlaces,
): boolean {
  const addressEnd = line.indexOf(' ', start)
  if (addressEnd === start) return false
  const isCommon =
    addressEnd < end &&
    isDashField(line, addressEnd + 1) &&
    line.charCodeAt(addressEnd - 1) !== COMMA &&
    !layout.hasListAfterIdentity
  const address = isCommon ? line.slice(start, addressEnd) : ''
  if (!isCommon || !isLoggedClient(address))
    return readLongHead(line, headFields(line, start, end), layout, into, places)
  setAddress(into, places, address, start)
  into.forwarded = undefined
  places.forwarded = -1
  const userStart = addressEnd + 3
  readUser(line, userStart, end, layout.fieldsAfterUser, into, places)
  return true
}

/** Returns whether a dash is a whole field. Compares codes, since `startsWith` takes longer than all else here. */
function isDashField(line: string, at: number): boolean {
  return line.charCodeAt(at) === DASH && line.charCodeAt(at + 1) === SPACE
}

/**
 * Splits a head into fields. A client may have put a parenthesis into the list that it forwarded, or into its
 * name, so a second field in parentheses ends where an address does. If several do, that field is left out.
 */
function headFields(line: string, start: number, end: number): LineField[] {
  const fields = fieldsOf(line, start, end)
  const [first, second] = fields
  if (first === undefined || second === undefined || line.charAt(second.start) !== '(') return fields
  const ends: number[] = []
  let close = line.indexOf(')', second.start)
  for (
    let i = 0;
    i < MAX_PARENTHESES && close >= 0 && close < end;
    i++, close = line.indexOf(')', close + 1)
  ) {
    const text = line.slice(Math.max(second.start + 1, close - MAX_ADDRESS), close)
    if (text === '-' || endsWithAddress(text)) ends.push(close + 1)
  }
  const last = ends.at(-1)
  if (last === undefined) return fields
  const list: LineField = { start: second.start, end: last, opener: '(' }
  return [first, ...(ends.length === 1 ? [list] : []), ...fieldsOf(line, last, end)]
}

/** How many parentheses are tried. */
const MAX_PARENTHESES = 1000
/** No address is longer. */
const MAX_ADDRESS = 50

function readLongHead(
  line: string,
  fields: readonly LineField[],
  layout: HeadLayout,
  into: LoggedRequest,
  places: HeadPlaces,
): boolean {
  const used = readClient(line, fields, into, places)
  if (used === 0) return false
  let next = used
  while (isOther(line, fields[next])) next++
  const isAfterOther = textAt(line, fields[next]) !== '-' && textAt(line, fields[next + 1]) === '-'
  if (isAfterOther && next + 2 < fields.length) next++ // a port or a request id before the identity
  const isAfterTime = (fields[0]?.start ?? 0) > 0
  if (isAfterTime && textAt(line, fields[next]) !== '-') next = fields.length // fields of another kind, no user
  next++ // the identity
  if (layout.hasListAfterIdentity) {
    const list = fields[next]
    const text = textAt(line, list)
    if (list !== undefined && isForwardedList(text)) setForwarded(into, places, text, list.start)
    next += textAt(line, fields[next + 1]) === '-' && next + 2 < fields.length ? 2 : 1
  }
  const [first, last] = [fields[next], fields.at(-1)]
  if (first === undefined || last === undefined) into.user = undefined
  else readUser(line, first.start, last.end + 1, layout.fieldsAfterUser, into, places)
  return true
}

/** Returns whether a field between the client and the identity is another one: in brackets or quotes. */
function isOther(line: string, field: LineField | undefined): boolean {
  return field !== undefined && field.opener !== '' && textOfField(line, field) !== ''
}

function readUser(
  line: string,
  start: number,
  end: number,
  fieldsAfter: number,
  into: LoggedRequest,
  places: HeadPlaces,
): void {
  places.user = end - 1 > start ? start : -1
  into.user = undefined
  if (end - start <= 2 && line.charCodeAt(start) === DASH) return
  let userEnd = end - 1
  for (let i = 0; i < fieldsAfter && userEnd > start; i++) userEnd = endBeforeLast(line, userEnd)
  into.user = userEnd > start ? userOf(line.slice(start, userEnd)) : undefined
}

/** Returns where the fields before the last one end. */
function endBeforeLast(line: string, end: number): number {
  const closer = line.charAt(end - 1)
  const opening = closer === ']' ? ' [' : closer === '"' ? ' "' : ' '
  return line.lastIndexOf(opening, end - 2)
}
