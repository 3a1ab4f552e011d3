import { parseAddress } from '../../keys/address.js'
import { isNoAddress } from './logged-client.js'
import { isPrivateAddress } from './private-address.js'

/**
 * Returns whether an address is that of a trusted proxy. `place` is how many proxies are nearer to the
 * server: 0 for the address of the connection.
 */
export type ProxyTest = (address: string, place: number) => boolean

/** The longest chain of proxies that is followed, so that no list takes long to read. */
const MAX_PROXIES = 64

/**
 * Returns the client of a request: the address of its connection, or if that is a proxy's, the nearest entry
 * of the forwarded list that is not a proxy's. Each proxy appends the address that it saw, so the list is
 * read from its end, as the middleware does; its beginning is whatever the client wrote. A list with no other
 * entries than proxies' names the one furthest from the server.
 *
 * `forwarded` is the value of X-Forwarded-For, of Forwarded (RFC 7239), or of a header with one address.
 * `address` is '' if the log has only that.
 */
export function clientAddress(
  address: string,
  forwarded: string | undefined,
  isProxy: ProxyTest = isPrivateAddress,
): string {
  if (forwarded === undefined) return address
  let client = address
  let end = forwarded.length
  for (let place = 0; end > 0 && place < MAX_PROXIES; place++) {
    if (!isNoAddress(client) && !isProxy(client, place)) break
    const start = forwarded.lastIndexOf(',', end - 1) + 1
    const entry = addressOfEntry(forwarded.slice(start, end))
    if (entry === undefined) break
    client = entry
    end = start - 1
  }
  return client
}

/** Returns whether a text is a list with nothing in it but addresses. */
export function isForwardedList(text: string): boolean {
  if (text.length > MAX_LIST_LENGTH) return false
  return text.split(',').every((entry) => addressOfEntry(entry) !== undefined)
}

/** Returns whether the last entry of a text, as of a list that a client has begun, is an address. */
export function endsWithAddress(text: string): boolean {
  return addressOfEntry(text.slice(text.lastIndexOf(',') + 1)) !== undefined
}

/** The longest text that is tried as a list. Lists of more than eight kilobytes do not pass through servers. */
const MAX_LIST_LENGTH = 8192
/** The longest entry, with the parameters that RFC 7239 allows in one. */
const MAX_ENTRY_LENGTH = 300

/** Returns the address in an entry of a forwarded list; `undefined` if there is none. */
function addressOfEntry(entry: string): string | undefined {
  if (entry.length > MAX_ENTRY_LENGTH) return undefined
  const text = entry.trim()
  const [, quoted, bare] = FOR_PARAMETER.exec(text) ?? []
  const address = quoted ?? bare ?? text
  return parseAddress(address) === undefined ? undefined : address
}

/** As in `for="[2001:db8::1]:4711";proto=https`, also with quotes that Apache or nginx has escaped. */
const FOR_PARAMETER = /(?:^|;) *for=(?:(?:\\?"|\\x22)([^"\\]*)(?:\\?"|\\x22)|([^;,"\\]*))/i
