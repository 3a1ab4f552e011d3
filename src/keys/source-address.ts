import { warnOnce } from '../util/warn-once.js'
import { type Address, isPlainIpv4, parseAddress } from './address.js'
import { DisconnectedError, isDisconnected } from './disconnected.js'
import { type EmbeddingNetwork, embeddingNetworks } from './embedded-ipv4.js'
import { type ForwardedOptions, forwardedReader } from './forwarded-address.js'
import { asRequest, headerOf } from './key.js'

/** A source address: a plain IPv4 address as text, which is the common case, or any other one parsed. */
export type SourceAddress = string | Address

/**
 * Reads the address that a request came from; `undefined` where there is none, such as on a Unix socket.
 * Throws a `DisconnectedError` where the connection is gone.
 */
export interface AddressReader {
  (subject: unknown): SourceAddress | undefined
  /** The networks whose addresses it reads as the IPv4 address that they embed. */
  readonly networks: readonly EmbeddingNetwork[]
}

/** How source addresses are read. */
export interface AddressOptions extends ForwardedOptions {
  /**
   * The prefixes of your own NAT64 translators (RFC 6052), of 96 bits each, such as `['2001:db8:64::/96']`:
   * clients behind them count by their IPv4 address, as those behind the well-known `64:ff9b::/96` do.
   */
  nat64?: readonly string[]
}

/**
 * Makes the reader of source addresses. Under Express it is `req.ip`, which follows `app.set('trust proxy',
 * …)`; elsewhere the socket's address. With `trustProxy` it is what the `proxy-addr` package finds behind
 * trusted proxies, with `header` what that holds. What is no address falls back to the socket's.
 *
 * Emits a process warning once when the set-up cannot be right: `HEADGATE_UNTRUSTED_PROXY` when a forwarding
 * header arrives and no proxy is trusted, `HEADGATE_TRUSTS_EVERY_PROXY` when Express trusts every proxy.
 */
export function addressReader(owner: string, options: AddressOptions = {}): AddressReader {
  const networks = embeddingNetworks(owner, options.nat64)
  const forwarded = forwardedReader(owner, options, networks)

  function expressOrSocketAddress(subject: unknown): SourceAddress | undefined {
    return readable(expressAddress(subject), networks) ?? readable(addressOfSocket(subject), networks)
  }

  function forwardedOrSocketAddress(subject: unknown): SourceAddress | undefined {
    const peer = addressOfSocket(subject)
    return readable(forwarded?.(subject, peer), networks) ?? readable(peer, networks)
  }

  const read = forwarded === undefined ? expressOrSocketAddress : forwardedOrSocketAddress
  function sourceAddress(subject: unknown): SourceAddress | undefined {
    const address = read(subject)
    if (address === undefined && isDisconnected(subject)) throw new DisconnectedError()
    return address
  }
  return Object.assign(sourceAddress, { networks })
}

/** How a server that listens on `::` writes IPv4 addresses (RFC 4291 §2.5.5.2). */
const MAPPED = '::ffff:'

function readable(
  text: string | undefined,
  networks: readonly EmbeddingNetwork[],
): SourceAddress | undefined {
  if (text === undefined || isPlainIpv4(text)) return text
  if (text.startsWith(MAPPED) && isPlainIpv4(text.slice(MAPPED.length))) return text.slice(MAPPED.length)
  return parseAddress(text, networks)
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
      "one bucket then: set app.set('trust proxy', 1) in Express, or byIp({ trustProxy: 1 }) elsewhere (the number of your " +
      'proxies, or their addresses). Without a proxy nothing is wrong: a client sent the header itself.',
  )
}
