import { addressIdentity, parseAddress } from '../../keys/address.js'
import { DEFAULT_IPV6_PREFIX } from '../../keys/source-address.js'
import { isKey } from '../../keys/value-identity.js'
import { RecentMap } from '../../util/recent-map.js'
import { fieldOf } from '../log/find-fields.js'
import { ipv4Number } from '../log/ipv4-number.js'
import { isPrivateAddress, isPrivateIpv4 } from '../log/private-address.js'
import type { LoggedRequest } from '../log/request-line.js'

/** What identifies a client: a part of the option `--key`. */
export type KeyPart = 'ip' | 'user' | 'path' | { readonly field: string }

/** Returns the identity of a logged request. */
export type LoggedIdentity = (request: LoggedRequest) => string

/**
 * Creates the function that returns the identity a limit charges, as the middleware's keys do: addresses as
 * `byIp()`, users as `byUser()`, which falls back on the address. What cannot be a key, such as a missing
 * field, shares one identity per address. `onDoubtful` is called for each request whose identity has an
 * address that is none, or that is private.
 */
export function loggedIdentity(parts: readonly KeyPart[], onDoubtful: OnDoubtful = () => {}): LoggedIdentity {
  const [first] = parts
  if (first !== undefined && parts.length === 1) return partReader(first, onDoubtful)
  let doubt: Doubt | undefined // several parts may read the address of one request
  const readers = parts.map((part) => partReader(part, (found) => (doubt = found)))
  return (request) => {
    doubt = undefined
    const identity = readers.map((read) => read(request).replace(/[\\ ]/g, '\\$&')).join(' ')
    if (doubt !== undefined) onDoubtful(doubt)
    return identity
  }
}

/** Why an address may not be a client's: it is none, or the internet does not route it. */
export type Doubt = 'unknown' | 'private'
type OnDoubtful = (doubt: Doubt) => void

/** Begins identities that no key can spell: a key holds no NUL. */
const NUL = '\0'

/** Returns an identity as reports show it. */
export function identityName(identity: string): string {
  return identity.replaceAll(NUL, '')
}

function partReader(part: KeyPart, onDoubtful: OnDoubtful): LoggedIdentity {
  const readAddress = addressReader(onDoubtful)
  const keyOr = (value: unknown, request: LoggedRequest, prefix = ''): string =>
    isKey(value) ? `${prefix}${value}` : `${NUL}malformed:${readAddress(request)}`

  if (part === 'ip') return readAddress
  if (part === 'path') return (request) => keyOr(request.path, request)
  if (part === 'user')
    return (request) =>
      request.user === undefined ? `anonymous:${readAddress(request)}` : keyOr(request.user, request, 'user:')
  const { field } = part
  return (request) => {
    const value = fieldOf(request.fields ?? {}, field)
    return keyOr(value === '' || value === '-' ? undefined : value, request) // so servers log a missing one
  }
}

/** The identity of requests whose address is none. */
const UNKNOWN = 'unknown'

/** How many spellings of IPv6 addresses are cached. */
const CACHED_ADDRESSES = 50_000
const MAX_CACHED_LENGTH = 100

function addressReader(onDoubtful: OnDoubtful): LoggedIdentity {
  const cache = new RecentMap<string>(CACHED_ADDRESSES)
  return function readAddress({ address }) {
    if (ipv4Number(address) >= 0) {
      if (isPrivateIpv4(address)) onDoubtful('private')
      return address
    }
    if (isPrivateAddress(address)) onDoubtful('private')
    const cached = cache.get(address)
    const identity = cached ?? identityOfAddress(address)
    if (identity === UNKNOWN) onDoubtful('unknown')
    if (cached !== undefined) return cached
    if (address.length <= MAX_CACHED_LENGTH) cache.set(ownCopy(address), ownCopy(identity))
    return identity
  }
}

/**
 * Returns a network of IPv6, an address of IPv4, or the name of a host, which Apache can log in its place.
 */
function identityOfAddress(address: string): string {
  const parsed = parseAddress(address)
  if (parsed !== undefined) return addressIdentity(parsed, DEFAULT_IPV6_PREFIX)
  const isName = /^[a-z\d](?:[a-z\d.-]{0,252})$/i.test(address)
  return isName ? address.toLowerCase() : UNKNOWN
}

/** Returns an equal string that keeps no other alive: a slice keeps all that it is a part of. */
export function ownCopy(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}
