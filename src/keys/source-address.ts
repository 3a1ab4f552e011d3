import { warnOnce } from '../util/warn-once.js'
import { type Address, addressIdentity, parseAddress } from './address.js'
import { EMBEDDINGS, type Embedding } from './embedded-ipv4.js'
import type { ForwardedReader } from './forwarded-address.js'
import type { KeyFunction } from './key-types.js'
import {
  asRequest,
  DisconnectedError,
  headerOf,
  isDisconnected,
  NotRequestError,
  notRequest,
  peerAddress,
  type RequestLike,
  views,
} from './request.js'
import { isFetchRequest, requestWithin } from './request-within.js'

/**
 * Returns the IP address that a request came from, also if the subject only carries it. Returns `undefined`
 * if there is none, such as on a Unix socket. Throws a `DisconnectedError` if the connection is gone.
 */
export interface AddressReader {
  (subject: unknown): Address | undefined
  /** The networks whose addresses it reads as the IPv4 address in them. */
  readonly embeddings: readonly Embedding[]
}

/**
 * Creates the reader of source addresses, which `byIp` describes. `readReported` reads the address that
 * proxies report. Warns once if the set-up is wrong.
 */
export function addressReader(
  readReported: ReportedReader,
  embeddings: readonly Embedding[] = EMBEDDINGS,
): AddressReader {
  let lastText: string | undefined
  let lastAddress: Address | undefined

  function sourceAddress(subject: unknown): Address | undefined {
    const request = hasConnection(subject) ? subject : (requestWithin(subject) ?? asRequest(subject))
    const reported = readReported(request)
    const address = (reported === undefined ? undefined : parse(reported)) ?? parse(peerAddress(request))
    if (address === undefined && isDisconnected(request)) throw disconnectedError(request)
    return address
  }

  /** Parses an address, and remembers it, because `allow`, `block` and the key function read it in turn. */
  function parse(text: string | undefined): Address | undefined {
    if (text === lastText) return lastAddress
    lastAddress = parseAddress(text, embeddings)
    lastText = text
    return lastAddress
  }

  return Object.assign(sourceAddress, { embeddings })
}

/** Returns whether a subject is itself a request with a connection, as most are, and has no view. */
function hasConnection(subject: unknown): subject is RequestLike {
  if (views.areUsed || typeof subject !== 'object' || subject === null) return false
  const { socket }: RequestLike = subject
  return typeof socket === 'object' && socket !== null && 'remoteAddress' in socket
}

/** One in this many requests is checked for forwarding headers, because the check takes as long as a decision. */
const REQUESTS_PER_CHECK = 64

/** Reads the address that a framework reports for a request; `undefined` if it is the socket's. */
export type ReportedReader = ForwardedReader<RequestLike>

/** Creates a function that reads the field `ip` of a request. */
export function fieldReader(): ReportedReader {
  let requests = 0
  return function addressInField(request) {
    const { ip } = request
    if (ip !== undefined && typeof ip !== 'string') return undefined
    if (requests++ % REQUESTS_PER_CHECK === 0) warnIfForwarded(request, ip)
    return ip
  }
}

/** Creates a function that reads the address that Express reports, or the field `ip` of other requests. */
export function expressReader(): ReportedReader {
  const readField = fieldReader()
  let requests = 0
  return function expressAddress(request) {
    const { app } = request as { readonly app?: { (): void; get(name: string): unknown } }
    if (typeof app !== 'function') return readField(request)
    const trust = app.get('trust proxy')
    if (trust === true) warnOnce('HEADGATE_TRUSTS_EVERY_PROXY', TRUSTS_EVERY_PROXY)
    if (trust) return typeof request.ip === 'string' ? request.ip : undefined
    if (requests++ % REQUESTS_PER_CHECK === 0) warnIfForwarded(request)
    return undefined // `ip` is read only if a proxy is trusted, because Express recomputes it on each read
  }
}

const TRUSTS_EVERY_PROXY =
  "headgate: 'trust proxy' is true, so clients can choose their own IP address with X-Forwarded-For. Set it to the " +
  "number of your proxies, such as app.set('trust proxy', 1), or to their addresses."

/** Warns of forwarding headers, unless they name the address `ip`: then the framework trusts the proxy. */
function warnIfForwarded(subject: unknown, ip = ''): void {
  const forwarded = headerOf(subject, 'x-forwarded-for') ?? headerOf(subject, 'forwarded')
  if (forwarded === undefined || (ip !== '' && forwarded.includes(ip.replace(/^::ffff:/i, '')))) return
  warnOnce(
    'HEADGATE_UNTRUSTED_PROXY',
    'headgate: a request has X-Forwarded-For or Forwarded, but no proxy is trusted. If your proxy sent it, all clients ' +
      "share one limit. Write app.set('trust proxy', 1) in Express, or byIp({ trustProxy: 1 }) elsewhere.",
  )
}

/** How many bits of an IPv6 address identify a client, unless `ipv6Prefix` says otherwise. */
export const DEFAULT_IPV6_PREFIX = 56

/**
 * Creates a key function of source addresses: IPv4 whole, IPv6 by network. It throws a `TypeError` for a
 * subject that has no place for an address.
 */
export function addressKey(
  read: AddressReader,
  ipv6Prefix = DEFAULT_IPV6_PREFIX,
): (subject: unknown) => string {
  function ipKey(subject: unknown): string {
    const address = read(subject)
    if (typeof address === 'string') return address
    const identity = networkIdentity(address, subject, ipv6Prefix)
    if (identity === undefined)
      throw isFetchRequest(asRequest(subject)) ? noAddressInRequest() : notRequest('byIp', subject)
    return identity
  }
  return markAddressUse(ipKey, { read, returnsAddress: true })
}

/** Creates a function like `addressKey` that returns `undefined` for a subject that is not a request. */
export function requestIdentity(
  read: AddressReader,
  ipv6Prefix = DEFAULT_IPV6_PREFIX,
): (subject: unknown) => string | undefined {
  return (subject) => networkIdentity(read(subject), subject, ipv6Prefix)
}

/** Returns the identity for the address of a subject; `undefined` if the subject is not a request. */
function networkIdentity(
  address: Address | undefined,
  subject: unknown,
  ipv6Prefix: number,
): string | undefined {
  if (address !== undefined) return addressIdentity(address, ipv6Prefix)
  if (requestWithin(subject) === undefined) return undefined
  warnOnce('HEADGATE_NO_ADDRESS', NO_ADDRESS)
  return 'unknown'
}

function noAddressInRequest(): NotRequestError {
  return new NotRequestError(
    'byIp: subject must have an IP address, got a Request of the Fetch standard, which has none. Use headgate/fetch, ' +
      'or pass { ip, headers: request.headers }. Behind a proxy, or in Next.js, write byIp({ trustProxy: 1 }).',
  )
}

const NO_ADDRESS =
  'headgate: a request has no IP address, as on a Unix socket. All such requests share one limit. Behind a ' +
  "proxy, write app.set('trust proxy', 1) in Express, or byIp({ trustProxy: 1 }). With headgate/fetch, pass { ip }."

/** Returns the error for a lost connection. Warns if the caller named the address, which may be missing always. */
function disconnectedError(request: RequestLike): DisconnectedError {
  if (!('socket' in request || 'stream' in request)) warnOnce('HEADGATE_EMPTY_IP', EMPTY_IP)
  return new DisconnectedError()
}

const EMPTY_IP =
  'headgate: a subject has an empty ip, so it was denied. Either its connection had closed, or your code reads the ' +
  'IP address where there is none, such as in a header that only one platform sends: then everyone is denied. ' +
  'Pass the request itself.'

interface AddressUse {
  readonly read: AddressReader
  /** Whether the function returns only addresses, which are bounded, printable and not secret. */
  readonly returnsAddress: boolean
}

/** A registered symbol, so that another copy of this package recognises the key functions of this one. */
const USE = Symbol.for('headgate.addressUse')

/** Returns how a key function uses the source address; `undefined` if it does not read it. */
export function addressUseOf(key: KeyFunction & { readonly [USE]?: AddressUse }): AddressUse | undefined {
  return key[USE]
}

/** Marks a key function with how it uses the source address, and returns it. */
export function markAddressUse<K extends KeyFunction>(key: K, use: AddressUse | undefined): K {
  return Object.defineProperty(key, USE, { value: use })
}

/**
 * Returns the address reader of the first key that has one, or `usual` if none has. So `allow`, `block` and the
 * bucket for malformed keys see the same address as the key.
 */
export function addressReaderAmong(
  limits: readonly { readonly key?: readonly KeyFunction[] | undefined }[],
  usual: AddressReader,
): AddressReader {
  const uses = limits.flatMap(({ key = [] }) => key.map(addressUseOf))
  return uses.find((use) => use !== undefined)?.read ?? usual
}
