import { warnOnce } from '../util/warn-once.js'
import { isPlainIpv4, parseAddress, type SourceAddress } from './address.js'
import { DisconnectedError, isDisconnected, peerAddress } from './connection.js'
import { type Embedding, embeddingsWith } from './embedded-ipv4.js'
import { type ForwardedOptions, forwardedReader } from './forwarded-address.js'
import { asRequest, headerOf } from './key.js'

/**
 * Returns the address that a request came from; `undefined` where there is none, such as on a Unix socket.
 * Throws a `DisconnectedError` where the connection is gone.
 */
export interface AddressReader {
  (subject: unknown): SourceAddress | undefined
  /** The networks whose addresses it reads as the IPv4 address in them. */
  readonly embeddings: readonly Embedding[]
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
 * Creates the reader of source addresses. Under Express it is `req.ip`, which follows `app.set('trust
 * proxy', …)`; elsewhere the socket's address. With `trustProxy` it is what the `proxy-addr` package finds
 * behind trusted proxies, with `header` what that holds. What is no address falls back to the socket's.
 *
 * Emits a process warning once when the set-up cannot be right: `HEADGATE_UNTRUSTED_PROXY` when a forwarding
 * header arrives and no proxy is trusted, `HEADGATE_TRUSTS_EVERY_PROXY` when Express trusts every proxy.
 */
export function addressReader(owner: string, options: AddressOptions = {}): AddressReader {
  const embeddings = embeddingsWith(owner, options.nat64)
  const reportedAddress = forwardedReader(owner, options, embeddings) ?? expressAddress

  function sourceAddress(subject: unknown): SourceAddress | undefined {
    const address =
      readAddress(reportedAddress(subject), embeddings) ?? readAddress(peerAddress(subject), embeddings)
    if (address === undefined && isDisconnected(subject)) throw new DisconnectedError()
    return address
  }

  return Object.assign(sourceAddress, { embeddings })
}

/** How a server that listens on `::` writes IPv4 addresses (RFC 4291 §2.5.5.2). */
const MAPPED = '::ffff:'

function readAddress(text: string | undefined, embeddings: readonly Embedding[]): SourceAddress | undefined {
  if (text === undefined || isPlainIpv4(text)) return text
  if (text.startsWith(MAPPED) && isPlainIpv4(text.slice(MAPPED.length))) return text.slice(MAPPED.length)
  return parseAddress(text, embeddings)
}

function expressAddress(subject: unknown): string | undefined {
  const { ip, app } = asRequest(subject)
  const trustsProxy = app === undefined ? ip !== undefined : trustsAnyProxy(app)
  if (!trustsProxy) warnIfForwarded(subject)
  return typeof ip === 'string' ? ip : undefined
}

/** Express applications that trust a proxy: the setting is looked up until it is one. */
const trustingApps = new WeakSet<object>()

function trustsAnyProxy(app: unknown): boolean {
  if (typeof app !== 'function' || trustingApps.has(app)) return true
  const trust: unknown = (app as unknown as { get(name: string): unknown }).get('trust proxy')
  if (trust === false || trust === undefined || trust === 0) return false
  trustingApps.add(app)
  if (trust === true)
    warnOnce(
      'HEADGATE_TRUSTS_EVERY_PROXY',
      "headgate: 'trust proxy' is true, so req.ip is whatever the client writes into X-Forwarded-For, and every client " +
        "can choose its own bucket. Set the number of proxies in front, such as app.set('trust proxy', 1), or their addresses.",
    )
  return true
}

function warnIfForwarded(subject: unknown): void {
  if (headerOf(subject, 'x-forwarded-for') === undefined && headerOf(subject, 'forwarded') === undefined)
    return
  warnOnce(
    'HEADGATE_UNTRUSTED_PROXY',
    'headgate: a request carries X-Forwarded-For or Forwarded, and no proxy is trusted. Behind a proxy all clients share ' +
      "one bucket then: set app.set('trust proxy', 1) in Express, or byIp({ trustProxy: 1 }) elsewhere (the number of your " +
      'proxies, or their addresses). Without a proxy nothing is wrong: a client sent the header itself.',
  )
}
