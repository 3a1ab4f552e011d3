import { readOptions, unchecked, withDefault } from '../options/option-table.js'
import { whole } from '../util/validate.js'
import { warnOnce } from '../util/warn-once.js'
import { addressIdentity } from './address.js'
import { asRequest, type KeyFunction } from './key.js'
import {
  type AddressOptions,
  type AddressReader,
  addressReader,
  type SourceAddress,
} from './source-address.js'

/** How addresses become identities. */
export interface ByIpOptions extends AddressOptions {
  /**
   * IPv6 addresses that share this many leading bits are one client, since a home gets a whole network: usually /56 or
   * /64 (RIPE-690), a business /48. From 1 to 128. Default 56.
   */
  ipv6Prefix?: number
}

const DEFAULT_IPV6_PREFIX = 56

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
  renamed: { ipv6Subnet: 'ipv6Prefix' },
} as const

/** The identity of requests on live connections without a source address, such as a Unix socket. */
const UNKNOWN_ADDRESS = 'unknown'
/** The identity of subjects that have no address because they are no requests: forgetting one touches no request's. */
const NO_REQUEST = 'no-request'

/**
 * Marks of key functions. Registered symbols, so that a second copy of this package in the process (one was
 * imported, the other required) recognises them.
 */
const READER = Symbol.for('headgate.addressReader')
const IS_ADDRESS_KEY = Symbol.for('headgate.isAddressKey')

type MarkedKey = KeyFunction & { [READER]?: AddressReader; [IS_ADDRESS_KEY]?: true }

/**
 * Returns how a key function reads the source address, so that `allow` and `block` see the same; `undefined`
 * for one that reads none.
 */
function readerOf(key: KeyFunction): AddressReader | undefined {
  return (key as MarkedKey)[READER]
}

/**
 * Returns how the first of these key functions that reads the source address reads it; as `byIp()` does where
 * none of them reads one.
 */
export function readerAmong(owner: string, keys: readonly KeyFunction[]): AddressReader {
  return keys.map(readerOf).find((reader) => reader !== undefined) ?? addressReader(owner)
}

/** Marks `key` as reading the source address as `other` does, where `other` reads one. */
export function readsAddressLike(key: KeyFunction, other: KeyFunction): void {
  const reader = readerOf(other)
  if (reader !== undefined) markReader(key, reader)
}

/** Whether a key function returns only addresses, which are bounded, printable and no secret. */
export function isAddressKey(key: KeyFunction): boolean {
  return (key as MarkedKey)[IS_ADDRESS_KEY] === true
}

function markReader(key: KeyFunction, reader: AddressReader): void {
  Object.defineProperty(key, READER, { value: reader })
}

function markAddressKey(key: KeyFunction): void {
  Object.defineProperty(key, IS_ADDRESS_KEY, { value: true })
}

/**
 * Identifies a client by its source address: `req.ip` under Express, else the socket's address; or the one
 * that trusted proxies report (`trustProxy`), or a header of theirs (`header` and `from`). All spellings of
 * an address are one; IPv4 embedded in IPv6 (mapped, NAT64, 6to4, Teredo) is IPv4.
 *
 * A forwarded "address" that is none falls back to the socket's. Where a connection has no address (a Unix
 * socket) requests share the identity `unknown`, and the process warning `HEADGATE_NO_ADDRESS` says so once.
 * Where it is closed and the address was not read before, a limiter refuses the request and charges nothing.
 * Subjects that are no requests (they have neither `ip` nor `socket`) share another.
 *
 * Throws a `TypeError` for wrong options.
 */
export function byIp(options: ByIpOptions = {}): KeyFunction<unknown> {
  const { ipv6Prefix, read } = readOptions('byIp', options, OPTIONS)

  function ipKey(subject: unknown): string {
    const address = read(subject)
    if (address !== undefined) return sourceIdentity(address, ipv6Prefix)
    if (!isRequest(subject)) return NO_REQUEST
    tellNoAddress()
    return UNKNOWN_ADDRESS
  }

  markReader(ipKey, read)
  markAddressKey(ipKey)
  return ipKey
}

/** The identity of a source address: IPv4 whole, IPv6 by network; `unknown` where there is none. */
export function sourceIdentity(address: SourceAddress | undefined, ipv6Prefix = DEFAULT_IPV6_PREFIX): string {
  if (address === undefined) return UNKNOWN_ADDRESS
  return typeof address === 'string' ? address : addressIdentity(address, ipv6Prefix)
}

/**
 * The key of a limit that was given none: `byIp()`. Subjects that are no requests share one bucket then, which is told once
 * as the process warning `HEADGATE_NO_KEY`.
 */
export function defaultKey(): KeyFunction<unknown> {
  const ipKey = byIp()
  function requestKey(subject: unknown): unknown {
    const key = ipKey(subject)
    if (key === NO_REQUEST) tellNoKey()
    return key
  }
  readsAddressLike(requestKey, ipKey)
  markAddressKey(requestKey)
  return requestKey
}

function tellNoKey(): void {
  warnOnce(
    'HEADGATE_NO_KEY',
    'headgate: a limiter without a key was charged for a subject that is no request: it has neither ip nor socket. All such ' +
      'subjects share one bucket. Give key, such as (job) => job.tenant.',
  )
}

function isRequest(subject: unknown): boolean {
  const { ip, socket } = asRequest(subject)
  return ip !== undefined || socket !== undefined
}

function tellNoAddress(): void {
  warnOnce(
    'HEADGATE_NO_ADDRESS',
    'headgate: a request has no source address (its connection is a Unix socket, for one). Such requests share one bucket. ' +
      "Behind a proxy on a Unix socket set app.set('trust proxy', 1) in Express, or byIp({ trustProxy: 1 }); or use another key.",
  )
}
