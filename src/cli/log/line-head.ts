import { parseAddress } from '../../keys/address.js'
import { endsWithAddress, isForwardedList } from './client-address.js'
import { fieldsOf, type LineField, textOfField, userOf } from './line-fields.js'
import { isLoggedClient } from './logged-client.js'
import { isPrivateAddress } from './private-address.js'
import type { LoggedRequest } from './request-line.js'

/** What the lines of a log have in common before their times, as far as single lines do not show it. */
export interface HeadLayout {
  /** Whether a forwarded list stands behind the identity: `10.0.3.4 - 198.51.100.7 - ada`. */
  readonly hasListAfterIdentity: boolean
  /** How many other fields stand between the user and the time. */
  readonly fieldsAfterUser: number
}

/** Where the values of a head begin; -1 for one that is not there. */
export interface HeadPlaces {
  address: number
  forwarded: number
  user: number
}

const COMMA = 44

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
    line.startsWith(' - ', addressEnd) &&
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

/**
 * Splits a head into fields. A client may have put a parenthesis into the list that it forwarded, so a second
 * field in parentheses ends after the first address that one follows.
 */
function headFields(line: string, start: number, end: number): LineField[] {
  const fields = fieldsOf(line, start, end)
  const [first, second] = fields
  if (first === undefined || second?.opener !== '(' || isForwardedList(textOfField(line, second)))
    return fields
  let close = line.indexOf(')', second.end)
  for (
    let i = 0;
    i < MAX_PARENTHESES && close >= 0 && close < end;
    i++, close = line.indexOf(')', close + 1)
  ) {
    if (!endsWithAddress(line.slice(Math.max(second.start + 1, close - MAX_ADDRESS), close))) continue
    return [first, { ...second, end: close + 1 }, ...fieldsOf(line, close + 1, end)]
  }
  return fields
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

/**
 * Reads the fields at the beginning that are addresses: of the connection, of a virtual host, and a forwarded
 * list before or after it. Returns how many there are.
 */
function readClient(
  line: string,
  fields: readonly LineField[],
  into: LoggedRequest,
  places: HeadPlaces,
): number {
  const [first, second] = fields
  into.forwarded = undefined
  places.forwarded = -1
  if (first === undefined) return 0
  const [one, two] = [textOfField(line, first), textAt(line, second)]
  const isPair = second !== undefined && (second.opener !== '' || fields.length > 3)
  if (isPair && (isForwardedList(two) || (second.opener === '(' && endsWithAddress(two))))
    return readPair(one, two, first, second, into, places)
  if (second !== undefined && first.opener === '' && isBehindHost(one, two)) {
    setAddress(into, places, two, second.start)
    return 2
  }
  if (isPair && second.opener !== '' && two === '-') {
    setAddress(into, places, one, first.start)
    return isLoggedClient(one) ? 2 : 0
  }
  if (isForwardedList(one) && one.includes(',')) {
    setAddress(into, places, '', first.start)
    setForwarded(into, places, one, first.start)
    return 1
  }
  setAddress(into, places, one, first.start)
  return isLoggedClient(one) ? 1 : 0
}

/**
 * Reads two fields of which the second is an address or a list. A private address beside one that is not is
 * the proxy's. A list, and what stands in parentheses, was forwarded.
 */
function readPair(
  one: string,
  two: string,
  first: LineField,
  second: LineField,
  into: LoggedRequest,
  places: HeadPlaces,
): number {
  const isSecondForwarded = second.opener !== '' || two.includes(',')
  if (!isForwardedList(one)) {
    const isFirstQuoted = first.opener === '"' // what a client forwarded, and servers escaped
    if (isSecondForwarded ? !isLoggedClient(one) : !isFirstQuoted && !isHostOrNone(one, first)) return 0
    setAddress(into, places, isSecondForwarded ? one : two, isSecondForwarded ? first.start : second.start)
    if (isSecondForwarded) setForwarded(into, places, two, second.start)
    else if (isFirstQuoted) setForwarded(into, places, one, first.start)
    return 2
  }
  const isFirstForwarded =
    one.includes(',') || first.opener !== '' || (isPrivateAddress(two) && !isPrivateAddress(one))
  if (isFirstForwarded && !isSecondForwarded) {
    setAddress(into, places, two, second.start)
    setForwarded(into, places, one, first.start)
    return 2
  }
  setAddress(into, places, one, first.start)
  if (isSecondForwarded || isPrivateAddress(one)) setForwarded(into, places, two, second.start)
  return 2
}

function isHostOrNone(text: string, { opener }: LineField): boolean {
  return text === '-' || (opener === '' && HOST.test(text))
}

/** Returns whether the first of two texts is a virtual host, and the second the client. */
function isBehindHost(first: string, second: string): boolean {
  if (second === '-' || parseAddress(first) !== undefined || !HOST.test(first)) return false
  return parseAddress(second) !== undefined || (/[.:]/.test(first) && DOTTED_NAME.test(second))
}

/** A name, such as `shop.example` or `localhost`, with or without a port. */
const HOST = /^[a-z\d_-]+(?:\.[a-z\d_-]+)*(?::\d{1,5})?$/i
/** The name of a client. A name without a dot may be an identity of RFC 1413, which has the same place. */
const DOTTED_NAME = /^[a-z\d_-]+(?:\.[a-z\d_-]+)+$/i

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
  let userEnd = withoutEnclosed(line, start, end - 1)
  for (let i = 0; i < fieldsAfter && userEnd > start; i++) userEnd = line.lastIndexOf(' ', userEnd - 1)
  userEnd = withoutEnclosed(line, start, userEnd)
  into.user = userEnd > start ? userOf(line.slice(start, userEnd)) : undefined
  places.user = userEnd > start ? start : -1
}

/** Returns where a user ends before a field in brackets or quotes, as of a request id. */
function withoutEnclosed(line: string, start: number, end: number): number {
  const closer = line.charAt(end - 1)
  if (closer !== ']' && closer !== '"') return end
  const open = line.lastIndexOf(closer === ']' ? ' [' : ' "', end - 2)
  return open > start ? open : end
}

function textAt(line: string, field: LineField | undefined): string {
  return field === undefined ? '' : textOfField(line, field)
}

function setAddress(into: LoggedRequest, places: HeadPlaces, text: string, at: number): void {
  into.address = text
  places.address = at
}

function setForwarded(into: LoggedRequest, places: HeadPlaces, text: string, at: number): void {
  into.forwarded = text
  places.forwarded = at
}
