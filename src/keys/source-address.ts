import type { IncomingMessage } from 'node:http'
import proxyAddr from 'proxy-addr'
import { wrongOption } from '../checks.js'
import { warnOnce } from '../warn-once.js'
import { type Address, isPlainIpv4, parseAddress } from './address.js'
import { type EmbeddingNetwork, embeddingNetworks } from './embedded-ipv4.js'
import { asRequest, headerOf } from './key.js'

/** Which proxies' `X-Forwarded-For` entries are believed: addresses, CIDR ranges, `'loopback'`, `'linklocal'`, `'uniquelocal'`. */
export type TrustProxy = string | readonly string[]

/** A source address: a plain IPv4 address as text, which is the common case, or any other one parsed. */
export type SourceAddress = string | Address

/** Reads the address that a request came from; `undefined` where there is none. */
export interface AddressReader {
  (subject: unknown): SourceAddress | undefined
  /** The networks whose addresses it reads as the IPv4 address that they embed. */
  readonly networks: readonly EmbeddingNetwork[]
}

/** How source addresses are read. */
export interface AddressOptions {
  /** Which proxies to believe, outside Express. Under Express set `app.set('trust proxy', …)` instead. */
  trustProxy?: TrustProxy
  /**
   * The prefixes of your own NAT64 translators (RFC 6052), of 96 bits each, such as `['2001:db8:64::/96']`: clients behind
   * them count by their IPv4 address, as those behind the well-known `64:ff9b::/96` do.
   */
  nat64?: readonly string[]
}

/**
 * Makes the reader of source addresses. Under Express it is `req.ip`, which follows `app.set('trust proxy', …)`;
 * elsewhere the socket's address, or with `trustProxy` what the `proxy-addr` package finds behind trusted proxies.
 *
 * Tells once, as a process warning, when the set-up cannot be right: `HEADGATE_UNTRUSTED_PROXY` when a forwarding header
 * arrives and no proxy is trusted, `HEADGATE_TRUSTS_EVERY_PROXY` when Express trusts every proxy.
 */
export function addressReader(owner: string, { trustProxy, nat64 }: AddressOptions = {}): AddressReader {
  const networks = embeddingNetworks(owner, nat64)
  const forwarded = trustProxy === undefined ? expressAddress : addressBehind(compileTrust(owner, trustProxy))
  function sourceAddress(subject: unknown): SourceAddress | undefined {
    return readable(forwarded(subject), networks) ?? readable(addressOfSocket(subject), networks)
  }
  return Object.assign(sourceAddress, { networks })
}

function readable(
  text: string | undefined,
  networks: readonly EmbeddingNetwork[],
): SourceAddress | undefined {
  if (text === undefined || isPlainIpv4(text)) return text
  return parseAddress(text, networks)
}

function addressBehind(trusted: ReturnType<typeof proxyAddr.compile>) {
  return function addressBehindProxies(subject: unknown): string | undefined {
    const remoteAddress = addressOfSocket(subject)
    const chain = headerOf(subject, 'x-forwarded-for')
    if (remoteAddress === undefined || chain === undefined) return undefined
    const read = { headers: { 'x-forwarded-for': chain }, socket: { remoteAddress } } // all that proxy-addr reads
    return proxyAddr(read as unknown as IncomingMessage, trusted)
  }
}

function compileTrust(owner: string, trustProxy: TrustProxy) {
  try {
    return proxyAddr.compile(typeof trustProxy === 'string' ? trustProxy.split(/ *, */) : [...trustProxy])
  } catch {
    const must = "addresses, CIDR ranges, 'loopback', 'linklocal' or 'uniquelocal'"
    throw wrongOption(
      owner,
      'trustProxy',
      must,
      trustProxy,
      "Did you mean trustProxy: ['loopback', '10.0.0.0/8']?",
    )
  }
}

function expressAddress(subject: unknown): string | undefined {
  const { ip, app } = asRequest(subject)
  if (app !== undefined) lookAtTrust(subject, app)
  else if (ip === undefined) lookForForwarding(subject)
  return typeof ip === 'string' ? ip : undefined
}

/**
 * The peer's address as the socket knows it; `undefined` on a Unix socket, and after the connection closed unless it was
 * read before: Node.js remembers it then.
 */
export function addressOfSocket(subject: unknown): string | undefined {
  const { socket } = asRequest(subject)
  if (typeof socket !== 'object' || socket === null) return undefined
  const { remoteAddress } = socket as { remoteAddress?: unknown }
  return typeof remoteAddress === 'string' && remoteAddress !== '' ? remoteAddress : undefined
}

/** Express applications whose trust was looked at and is neither everything nor nothing. */
const soundApps = new WeakSet<object>()

function lookAtTrust(subject: unknown, app: unknown): void {
  if (typeof app !== 'function' || soundApps.has(app)) return
  const trust: unknown = (app as unknown as { get(name: string): unknown }).get('trust proxy')
  if (trust === true) {
    soundApps.add(app)
    warnOnce(
      'HEADGATE_TRUSTS_EVERY_PROXY',
      "headgate: 'trust proxy' is true, so req.ip is whatever the client writes into X-Forwarded-For, and every client " +
        "can choose its own bucket. Set the number of proxies in front, such as app.set('trust proxy', 1), or their addresses.",
    )
  } else if (trust === false || trust === undefined || trust === 0) lookForForwarding(subject)
  else soundApps.add(app)
}

function lookForForwarding(subject: unknown): void {
  if (headerOf(subject, 'x-forwarded-for') === undefined && headerOf(subject, 'forwarded') === undefined)
    return
  warnOnce(
    'HEADGATE_UNTRUSTED_PROXY',
    'headgate: a request carries X-Forwarded-For or Forwarded, and no proxy is trusted. Behind a proxy all clients share ' +
      "one bucket then: set app.set('trust proxy', 1) in Express (or the number of your proxies), or byIp({ trustProxy: " +
      "['loopback'] }) elsewhere. Without a proxy nothing is wrong: a client sent the header itself.",
  )
}
