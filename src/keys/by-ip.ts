import { readOptions, unchecked, withDefault } from '../options/option-table.js'
import { whole } from '../util/validate.js'
import { embeddingsWith } from './embedded-ipv4.js'
import { type AddressOptions, forwardedReader } from './forwarded-address.js'
import { checkHostBits } from './host-bits.js'
import type { KeyFunction } from './key-types.js'
import {
  type AddressReader,
  addressKey,
  addressReader,
  DEFAULT_IPV6_PREFIX,
  expressReader,
} from './source-address.js'

/** Options of `byIp`: how IP addresses become identities. */
export interface ByIpOptions extends AddressOptions {
  /**
   * How many leading bits IPv6 addresses of one client share, from 1 to 128. Default 56. A home gets a whole
   * network, usually /56 or /64 (RIPE-690), and a business /48.
   */
  ipv6Prefix?: number
}

const OPTIONS = {
  rows: {
    ipv6Prefix: withDefault(DEFAULT_IPV6_PREFIX, whole(1, 128)),
    trustProxy: unchecked,
    header: unchecked,
    from: unchecked,
    nat64: unchecked,
  },
  rules: {
    read: {
      from: ['trustProxy', 'header', 'from', 'nat64'],
      read: (owner: string, given: object) => readerOf(owner, given),
    },
  },
  fixes: { ipv6Subnet: 'ipv6Prefix' },
} as const

/**
 * Creates a key that identifies a client by its source IP address. All spellings of an address are one. IPv4
 * embedded in IPv6 (mapped, NAT64, 6to4, Teredo) is IPv4.
 *
 * - By default, the address is `req.ip` if Express trusts a proxy (`app.set('trust proxy', …)`), and
 *   otherwise the socket's.
 * - With `trustProxy`, it is the one that trusted proxies report.
 * - With `header` and `from`, it is the one in a header that they set.
 *
 * Process warnings report two mistakes, each once. `HEADGATE_UNTRUSTED_PROXY`: requests have a forwarding
 * header, but no proxy is trusted (one request in 64 is checked). `HEADGATE_TRUSTS_EVERY_PROXY`: Express
 * trusts every proxy.
 *
 * If the address is malformed or missing:
 *
 * - A malformed forwarded address falls back to the socket's.
 * - If connections have no address (Unix sockets), their requests share the identity `unknown`. The process
 *   warning `HEADGATE_NO_ADDRESS` reports it once.
 * - If a connection is closed or was reset, and its address was not read before, a limiter denies the request
 *   and charges nothing.
 * - A subject that is not a request may carry one, or the address: a context of Koa or Hono, a socket of
 *   Socket.IO or ws, an event of AWS Lambda. For any other subject, such as a job or a string, the key throws a
 *   `TypeError`.
 *
 * Throws a `TypeError` for wrong options.
 *
 * @example
 * ```ts
 * import { byIp, rateLimit } from 'headgate/http'
 *
 * // Behind one proxy. With Express, write app.set('trust proxy', 1) instead.
 * const api = rateLimit({ limit: 100, window: '1m', key: byIp({ trustProxy: 1 }) })
 * ```
 */
export function byIp(options: ByIpOptions = {}): KeyFunction<unknown> {
  const { ipv6Prefix, read } = readOptions('byIp', options, OPTIONS)
  return addressKey(read, ipv6Prefix)
}

/** Creates the reader that the options call for. Throws a `TypeError` for wrong options. */
function readerOf(owner: string, options: AddressOptions): AddressReader {
  const embeddings = embeddingsWith(owner, options.nat64)
  checkHostBits(owner, 'nat64', options.nat64 ?? [])
  return addressReader(forwardedReader(owner, options, embeddings) ?? expressReader(), embeddings)
}
