import { given, knownOptions, wholeNumber } from '../checks.js'
import { warnOnce } from '../warn-once.js'
import { addressIdentity, isPlainIpv4, parseAddress } from './address.js'
import type { KeyFunction } from './key.js'
import { type AddressReader, addressOfSocket, addressReader, type TrustProxy } from './source-address.js'

/** How addresses become identities. */
export interface ByIpOptions {
  /**
   * IPv6 addresses that share this many leading bits are one client, since a home gets a whole network: usually /56 or
   * /64 (RIPE-690), a business /48. From 1 to 128. Default 56.
   */
  ipv6Prefix?: number
  /** Which proxies to believe, outside Express. Under Express set `app.set('trust proxy', …)` instead. */
  trustProxy?: TrustProxy
}

/** The identity of requests whose source address cannot be known: a Unix socket, or a connection that is closed. */
export const UNKNOWN_ADDRESS = 'unknown'

/** The readers behind `byIp` functions, so that `allow` and `block` see the same address as the key does. */
const readers = new WeakMap<KeyFunction, AddressReader>()

/** How a `byIp` function reads the address; `undefined` for any other function. */
export function readerOf(key: KeyFunction): AddressReader | undefined {
  return readers.get(key)
}

/**
 * Identifies a client by its source address: `req.ip` under Express, else the socket's address, or with `trustProxy` the
 * one that trusted proxies report. All spellings of an address are one; IPv4 inside IPv6 (mapped, NAT64) is IPv4.
 *
 * A forwarded "address" that is none falls back to the socket's. Where there is no address at all (a Unix socket, a closed
 * connection) requests share the identity `unknown`, and a process warning (`HEADGATE_NO_ADDRESS`) tells once.
 *
 * Throws a `TypeError` for wrong options.
 */
export function byIp(options: ByIpOptions = {}): KeyFunction<unknown> {
  knownOptions('byIp', options, ['ipv6Prefix', 'trustProxy'], { ipv6Subnet: 'ipv6Prefix' })
  const ipv6Prefix = wholeNumber('byIp', 'ipv6Prefix', given(options.ipv6Prefix, 56), 1, 128)
  const read = addressReader('byIp', options.trustProxy)

  function ipKey(subject: unknown): string {
    const text = read(subject)
    if (text !== undefined && isPlainIpv4(text)) return text
    const socketText = addressOfSocket(subject)
    const address = parseAddress(text ?? '') ?? parseAddress(socketText ?? '')
    if (address !== undefined) return addressIdentity(address, ipv6Prefix)
    warnOnce(
      'HEADGATE_NO_ADDRESS',
      'headgate: a request has no source address (a Unix socket, or a closed connection). Such requests share one bucket. ' +
        "Behind a proxy on a Unix socket set app.set('trust proxy', …), or use another key.",
    )
    return UNKNOWN_ADDRESS
  }

  readers.set(ipKey, read)
  return ipKey
}
