import { warnOnce } from '../util/warn-once.js'
import { type Address, parseAddress } from './address.js'
import { DisconnectedError, isDisconnected, peerAddress } from './connection.js'
import { type Embedding, embeddingsWith } from './embedded-ipv4.js'
import { type AddressOptions, forwardedReader } from './forwarded-address.js'
import { asRequest, headerOf } from './key.js'

/**
 * Returns the address that a request came from; `undefined` if there is none, such as on a Unix socket.
 * Throws a `DisconnectedError` if the connection is gone.
 */
export interface AddressReader {
  (subject: unknown): Address | undefined
  /** The networks whose addresses it reads as the IPv4 address in them. */
  readonly embeddings: readonly Embedding[]
}

/** Creates the reader of source addresses, which `byIp` describes. Warns once if the set-up is wrong. */
export function addressReader(owner: string, options: AddressOptions = {}): AddressReader {
  const embeddings = embeddingsWith(owner, options.nat64)
  const reportedAddress = forwardedReader(owner, options, embeddings) ?? expressReader()

  function sourceAddress(subject: unknown): Address | undefined {
    const reported = parseAddress(reportedAddress(subject), embeddings)
    const address = reported ?? parseAddress(peerAddress(subject), embeddings)
    if (address === undefined && isDisconnected(subject)) throw new DisconnectedError()
    return address
  }

  return Object.assign(sourceAddress, { embeddings })
}

/** One in so many requests is searched for forwarding headers: that takes as long as to decide. */
const SEARCHED = 64

/** Creates a function that returns the address that Express reports; `undefined` if it is the socket's. */
function expressReader(): (subject: unknown) => string | undefined {
  let requests = 0
  return function expressAddress(subject) {
    const request = asRequest(subject)
    const { app } = request
    const trust = typeof app === 'function' ? proxySetting(app) : request.ip !== undefined
    if (!trust) {
      if (requests++ % SEARCHED === 0) warnIfForwarded(subject)
      return undefined
    }
    const { ip } = request // with a trusted proxy only: Express computes it anew each time
    if (typeof ip !== 'string') return undefined
    if (typeof app !== 'function' && requests++ % SEARCHED === 0) warnIfForwarded(subject, ip)
    return ip
  }
}

function proxySetting(app: object): unknown {
  const trust = (app as { get(name: string): unknown }).get('trust proxy')
  if (trust === true)
    warnOnce(
      'HEADGATE_TRUSTS_EVERY_PROXY',
      "headgate: 'trust proxy' is true, so req.ip is whatever the client writes into X-Forwarded-For. Set the number of " +
        "proxies in front, such as app.set('trust proxy', 1), or their addresses.",
    )
  return trust
}

/** Warns of forwarding headers, unless they name the address `ip`: then the framework trusts the proxy. */
function warnIfForwarded(subject: unknown, ip = ''): void {
  const forwarded = headerOf(subject, 'x-forwarded-for') ?? headerOf(subject, 'forwarded')
  if (forwarded === undefined || (ip !== '' && forwarded.includes(ip.replace(/^::ffff:/i, '')))) return
  warnOnce(
    'HEADGATE_UNTRUSTED_PROXY',
    'headgate: a request carries X-Forwarded-For or Forwarded, and no proxy is trusted. If it came through your proxy, ' +
      "set app.set('trust proxy', 1) in Express, or byIp({ trustProxy: 1 }) elsewhere: else all clients share a bucket.",
  )
}
