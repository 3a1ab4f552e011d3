import { readOptions, unchecked, withDefault } from '../options/option-table.js'
import { whole } from '../util/validate.js'
import { warnOnce } from '../util/warn-once.js'
import { networkOf } from './address.js'
import { markAddressUse } from './address-use.js'
import type { AddressOptions } from './forwarded-address.js'
import { type KeyFunction, requestOf } from './key.js'
import { type AddressReader, addressReader } from './source-address.js'

/** How addresses become identities. */
export interface ByIpOptions extends AddressOptions {
  /**
   * IPv6 addresses that share this many leading bits are one client, since a home gets a whole network:
   * usually /56 or /64 (RIPE-690), a business /48. From 1 to 128. Default 56.
   */
  ipv6Prefix?: number
}

/** How many bits of an IPv6 address identify a client, unless `ipv6Prefix` says otherwise. */
export const DEFAULT_IPV6_PREFIX = 56

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
 * Identifies a client by its source address: `req.ip` under an Express that trusts a proxy (`app.set('trust
 * proxy', …)`), else the socket's address; or the one that trusted proxies report (`trustProxy`, read by
 * the package `proxy-addr`), or a header of theirs (`header` and `from`). All spellings of an address are
 * one; IPv4 embedded in IPv6 (mapped, NAT64, 6to4, Teredo) is IPv4.
 *
 * A process warning reports once a forwarding header if no proxy is trusted (`HEADGATE_UNTRUSTED_PROXY`;
 * one request in 64 is searched), and an Express that trusts every proxy (`HEADGATE_TRUSTS_EVERY_PROXY`).
 *
 * A malformed forwarded address falls back to the socket's. Where a connection has no address (a Unix
 * socket) requests share the identity `unknown`; the process warning `HEADGATE_NO_ADDRESS` reports it once.
 * Where it is closed and the address was not read before, a limiter denies the request and charges nothing.
 * Objects that are no requests (they have neither `ip` nor `socket`) share another. For a string or another
 * subject that is no object, the key throws a `TypeError`.
 *
 * Throws a `TypeError` for wrong options.
 */
export function byIp(options: ByIpOptions = {}): KeyFunction<unknown> {
  const { ipv6Prefix, read } = readOptions('byIp', options, OPTIONS)
  return addressKey(read, ipv6Prefix)
}

/** Creates the key of a limit without one: `byIp()`, which warns of objects that are no requests. */
export function defaultKey(): KeyFunction<unknown> {
  return addressKey(addressReader('byIp'), DEFAULT_IPV6_PREFIX, true)
}

/** Creates a key function of source addresses: IPv4 whole, IPv6 by network. */
export function addressKey(
  read: AddressReader,
  ipv6Prefix = DEFAULT_IPV6_PREFIX,
  isDefault = false,
): (subject: unknown) => string {
  function ipKey(subject: unknown): string {
    const address = read(subject)
    if (typeof address === 'string') return address
    if (address !== undefined) return networkOf(address, ipv6Prefix)
    const { ip, socket } = requestOf('byIp', subject)
    const isRequest = ip !== undefined || socket !== undefined
    if (isRequest) warnOnce('HEADGATE_NO_ADDRESS', NO_ADDRESS)
    else if (isDefault) warnOnce('HEADGATE_NO_KEY', NO_KEY)
    return isRequest ? 'unknown' : 'no-request' // two identities: forgetting one leaves the other
  }
  return markAddressUse(ipKey, { read, returnsAddress: true })
}

const NO_KEY =
  'headgate: a limiter without a key was charged for a subject that is not a request: it has neither ip nor socket. All such ' +
  'subjects share one bucket. Give key, such as (job) => job.tenant.'

const NO_ADDRESS =
  'headgate: a request has no source address (its connection is a Unix socket, for one). Such requests share one bucket. ' +
  "Behind a proxy on a Unix socket set app.set('trust proxy', 1) in Express, or byIp({ trustProxy: 1 }); give ip to a limiter " +
  'of headgate/fetch; or use another key.'
