import { parseAddress } from '../../keys/address.js'
import { endsWithAddress, isForwardedList } from './client-address.js'
import { type LineField, textOfField } from './line-fields.js'
import { isLoggedClient } from './logged-client.js'
import { isPrivateAddress } from './private-address.js'
import type { LoggedRequest } from './request-line.js'

/** Where the values of a head begin; -1 for one that is not there. */
export interface HeadPlaces {
  address: number
  forwarded: number
  user: number
}

/**
 * Reads the fields at the beginning that are addresses: of the connection, of a virtual host, and a forwarded
 * list before or after it. Returns how many there are.
 */
export function readClient(
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
  const isPair = second !== undefined && (second.opener !== '' || fields.length !== 3)
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

/** Returns the text of a field; '' for one that is not there. */
export function textAt(line: string, field: LineField | undefined): string {
  return field === undefined ? '' : textOfField(line, field)
}

export function setAddress(into: LoggedRequest, places: HeadPlaces, text: string, at: number): void {
  into.address = text
  places.address = at
}

export function setForwarded(into: LoggedRequest, places: HeadPlaces, text: string, at: number): void {
  into.forwarded = text
  places.forwarded = at
}
