import { readOptions, unchecked, withDefault } from '../options/option-table.js'
import { whole } from '../util/validate.js'
import type { AddressOptions } from './forwarded-address.js'
import type { KeyFunction } from './key.js'
import { addressKey, addressReader, DEFAULT_IPV6_PREFIX } from './source-address.js'

/** How addresses become identities. */
export interface ByIpOptions extends AddressOptions {
  /**
   * IPv6 addresses that share this many leading bits are one client, since a home gets a whole network:
   * usually /56 or /64 (RIPE-690), a business /48. From 1 to 128. Default 56.
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
      read: (owner: string, given: object) => addressReader(owner, given),
    },
  },
  fixes: { ipv6Subnet: 'ipv6Prefix' },
} as const

/**
 * Identifies a client by its source IP address. By default, that is `req.ip` if Express trusts a proxy
 * (`app.set('trust proxy', …)`), and otherwise the socket's address. With `trustProxy`, it is the address
 * that trusted proxies report, and with `header` and `from`, the one in a header of theirs. All spellings
 * of an address are one. IPv4 embedded in IPv6 (mapped, NAT64, 6to4, Teredo) is IPv4.
 *
 * A process warning reports once a forwarding header if no proxy is trusted (`HEADGATE_UNTRUSTED_PROXY`; one
 * request in 64 is checked), and an Express that trusts every proxy (`HEADGATE_TRUSTS_EVERY_PROXY`).
 *
 * A malformed forwarded address falls back to the socket's. If connections have no address (Unix sockets),
 * their requests share the identity `unknown`, and the process warning `HEADGATE_NO_ADDRESS` reports it
 * once. If a connection is closed and its address was not read before, a limiter denies the request and
 * charges nothing. Objects that are not requests (they have neither `ip` nor `socket`) share another
 * identity. For a string or another subject that is not an object, the key throws a `TypeError`.
 *
 * Throws a `TypeError` for wrong options.
 */
export function byIp(options: ByIpOptions = {}): KeyFunction<unknown> {
  const { ipv6Prefix, read } = readOptions('byIp', options, OPTIONS)
  return addressKey(read, ipv6Prefix)
}
