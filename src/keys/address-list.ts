import type ipaddr from 'ipaddr.js'
import { show, wrongOption } from '../checks.js'
import { type Address, parseAddress } from './address.js'
import type { SourceAddress } from './source-address.js'

/** Whether an address is in a list. No address is in none. */
export type AddressTest = (source: SourceAddress | undefined) => boolean

/**
 * Compiles a list of addresses and CIDR ranges, v4 and v6, into a test.
 * Throws a `TypeError` that names the entry which is neither.
 */
export function addressList(owner: string, option: string, entries: unknown): AddressTest {
  if (!Array.isArray(entries)) {
    throw wrongOption(
      owner,
      option,
      'an array of addresses and CIDR ranges',
      entries,
      `Did you mean ${option}: ['10.0.0.0/8']?`,
    )
  }
  const ranges = entries.map((entry) => readRange(owner, option, entry))
  return function isListed(source) {
    const address = typeof source === 'string' ? parseAddress(source) : source
    return address !== undefined && ranges.some((range) => contains(range, address))
  }
}

type Range = readonly [Address, number]

function readRange(owner: string, option: string, entry: unknown): Range {
  const [text, bits, ...rest] = typeof entry === 'string' ? entry.split('/') : []
  const address = text === undefined || rest.length > 0 ? undefined : parseAddress(text)
  const width = address?.kind() === 'ipv4' ? 32 : 128
  const mapped = width === 32 && text?.includes(':', text.indexOf(':') + 1) ? 96 : 0 // IPv4 spelt as IPv6 counts its bits from there
  const prefix = bits === undefined ? width : /^\d{1,3}$/.test(bits) ? Number(bits) - mapped : -1
  if (address !== undefined && prefix >= 0 && prefix <= width) return [address, prefix]
  throw new TypeError(
    `${owner}: ${option} must hold addresses and CIDR ranges, got ${show(entry)}. Write such as '192.0.2.7' or '2001:db8::/32'.`,
  )
}

/** By `kind()`, since the address may come from a second copy of ipaddr.js, of whose classes it is no instance here. */
function contains([network, prefix]: Range, address: Address): boolean {
  return address.kind() === network.kind() && (address as ipaddr.IPv6).match(network as ipaddr.IPv6, prefix)
}
