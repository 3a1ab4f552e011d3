import { wrongOption } from '../util/validate.js'
import { warnOnce } from '../util/warn-once.js'
import { parseAddress } from './address.js'
import { addressList } from './address-list.js'
import { isHeaderName } from './by-header.js'
import type { Embedding } from './embedded-ipv4.js'
import { checkHostBits } from './host-bits.js'
import { headerOf, isDisconnected, peerAddress } from './request.js'

/**
 * The proxies that a server trusts: their number, or their addresses. Each proxy adds an entry to
 * `X-Forwarded-For`. Addresses may be CIDR ranges, and the names `'loopback'`, `'linklocal'` and
 * `'uniquelocal'`.
 */
export type TrustProxy = number | string | readonly string[]

/** Options for reading source IP addresses. */
export interface AddressOptions {
  /**
   * Which proxies to trust: their number, or their addresses. The number is right only if no client can
   * reach the server around them. Under Express, set `app.set('trust proxy', …)` instead.
   */
  trustProxy?: TrustProxy
  /**
   * The header in which a CDN or a proxy sends only the client's address, such as `'cf-connecting-ip'`.
   * Requires `from`. Under Express, it takes the place of `req.ip`.
   */
  header?: string
  /**
   * The addresses and CIDR ranges from which `header` is trusted. The socket's peer must be in them, also
   * under Express.
   */
  from?: readonly string[]
  /**
   * The prefixes of your NAT64 translators (RFC 6052), of 96 bits each, such as `['2001:db8:64::/96']`.
   * Clients behind them count by their IPv4 address, as behind the well-known `64:ff9b::/96`.
   */
  nat64?: readonly string[]
}

/** Returns the client's address as a trusted proxy or CDN reports it; `undefined` without a report. */
export type ForwardedReader<Subject = unknown> = (subject: Subject) => string | undefined

/**
 * Creates the reader that the options call for, or returns `undefined` without any. Throws a `TypeError` for
 * wrong options.
 */
export function forwardedReader(
  owner: string,
  { trustProxy, header, from }: AddressOptions,
  embeddings: readonly Embedding[],
): ForwardedReader | undefined {
  if (header === undefined && from === undefined)
    return trustProxy === undefined ? undefined : addressBehindProxies(owner, trustProxy, embeddings)
  if (trustProxy === undefined) return addressInHeader(owner, header, from, embeddings)
  throw new TypeError(
    `${owner}: give either trustProxy, or header and from, not both. Leave trustProxy out if a header holds the client's IP address.`,
  )
}

/** The ranges that Express names, as its setting `trust proxy` does. */
const NAMED_RANGES: Readonly<Record<string, readonly string[]>> = {
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  loopback: ['127.0.0.0/8', '::1/128'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

/** Whoever trusts both trusts everybody. */
const EXTREMES = ['1.0.0.1', '223.255.255.254']

/** Returns whether a proxy is trusted, by its address and by how many others are nearer to the server. */
export type TrustTest = (address: string | undefined, place: number) => boolean

/** The longest chain of proxies in a list, so that no header takes long to read. */
const MAX_PROXIES = 64

/** Walks from the server to the client, past each trusted proxy, as Express does. */
function addressBehindProxies(
  owner: string,
  trustProxy: TrustProxy,
  embeddings: readonly Embedding[],
): ForwardedReader {
  const isTrusted = readTrust(owner, trustProxy, embeddings)
  return function forwardedFor(subject) {
    const chain = headerOf(subject, 'x-forwarded-for')
    if (chain === undefined) return undefined
    let address = peerAddress(subject)
    let start = chain.length
    for (let place = 0; isTrusted(address, place); place++) {
      const end = endOfHop(chain, start)
      if (end === 0) break
      start = chain.lastIndexOf(',', end - 1) + 1
      address = chain.slice(start, end).trim()
    }
    return address
  }
}

/** Returns where the last entry before `end` ends, without commas and blanks after it; 0 if there is none. */
function endOfHop(chain: string, end: number): number {
  let at = end
  while (at > 0 && isSeparator(chain.charCodeAt(at - 1))) at--
  return at
}

const isSeparator = (code: number) => code === 0x2c || code === 0x20 || code === 0x09

/** Reads the option `trustProxy`. Throws a `TypeError` for a wrong one. */
export function readTrust(
  owner: string,
  trustProxy: TrustProxy,
  embeddings: readonly Embedding[],
): TrustTest {
  // A peer without an address is trusted by number alone, as on a Unix socket.
  if (typeof trustProxy === 'number') {
    if (!Number.isInteger(trustProxy) || trustProxy < 1) throw wrongTrust(owner, trustProxy)
    return (_address, place) => place < trustProxy
  }
  const entries = typeof trustProxy === 'string' ? trustProxy.split(/ *, */) : trustProxy
  if (!Array.isArray(entries)) throw wrongTrust(owner, trustProxy)
  const ranges = entries.flatMap((entry) => NAMED_RANGES[entry] ?? entry)
  checkHostBits(owner, 'trustProxy', ranges)
  try {
    const isInRange = addressList(owner, 'trustProxy', ranges, embeddings)
    if (!EXTREMES.every(isInRange) && !ranges.some((range) => /\/0+$/.test(range)))
      return (address, place) => place < MAX_PROXIES && isInRange(parseAddress(address, embeddings))
  } catch {
    // Reported below, with the fix.
  }
  throw wrongTrust(owner, trustProxy)
}

function wrongTrust(owner: string, trustProxy: TrustProxy): TypeError {
  const must = 'the number of proxies (at least 1), or their IP addresses and CIDR ranges'
  const fix =
    "Write trustProxy: 1 or trustProxy: ['loopback', '10.0.0.0/8'], or leave it out to trust no proxy."
  return wrongOption(owner, 'trustProxy', must, trustProxy, fix)
}

function addressInHeader(
  owner: string,
  header: unknown,
  from: unknown,
  embeddings: readonly Embedding[],
): ForwardedReader {
  const fix = "Write header: 'cf-connecting-ip', from: ['173.245.48.0/20']."
  if (!isHeaderName(header)) throw wrongOption(owner, 'header', 'the name of a header', header, fix)
  const name = header.toLowerCase()
  if (name === 'x-forwarded-for' || name === 'forwarded') {
    const must = 'a header with a single IP address'
    throw wrongOption(
      owner,
      'header',
      must,
      header,
      'For a list, write trustProxy: 1, the number of proxies.',
    )
  }
  if (!Array.isArray(from) || from.length === 0)
    throw wrongOption(owner, 'from', 'an array of at least one IP address or CIDR range', from, fix)
  const isTrusted = addressList(owner, 'from', from, embeddings)
  return function forwardedInHeader(subject) {
    const address = headerOf(subject, name)
    if (address === undefined) return undefined
    const peer = peerAddress(subject)
    if (isTrusted(parseAddress(peer, embeddings))) {
      if (parseAddress(address, embeddings) === undefined) warnUnreadable(name)
      return address
    }
    if (peer !== undefined || !isDisconnected(subject)) warnUntrusted(name)
    return undefined
  }
}

function warnUntrusted(header: string): void {
  warnOnce(
    'HEADGATE_UNTRUSTED_PROXY',
    `headgate: ${header} was ignored: the request came from an IP address that the option from does not list. If ` +
      'that is your proxy, add its address to from. For a proxy on a Unix socket, write trustProxy: 1.',
  )
}

function warnUnreadable(header: string): void {
  warnOnce(
    'HEADGATE_UNREADABLE_ADDRESS',
    `headgate: a trusted proxy sent ${header} without an IP address, so the request counts by the proxy's address. ` +
      "Have the proxy send only the client's address.",
  )
}
