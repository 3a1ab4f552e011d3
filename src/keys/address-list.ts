import { show, wrongOption } from '../util/validate.js'
import { type Address, parseAsWritten } from './address.js'
import { EMBEDDINGS, type Embedding, embeddedIpv4, embeddingOf } from './embedded-ipv4.js'
import { checkHostBits } from './host-bits.js'
import type { Ipv6 } from './ip-text.js'
import { bitsOf, isInRange, type Range } from './network-key.js'

/**
 * Creates a function that returns whether an address is in a list of addresses and CIDR ranges, v4 and v6;
 * `undefined` is in none. An entry within the network of an embedding is read as the IPv4 range in it, since
 * that is how source addresses are read. Throws a `TypeError` that names the entry which is neither, or which has
 * bits after its prefix.
 */
export function addressList(
  owner: string,
  option: string,
  entries: unknown,
  embeddings: readonly Embedding[] = EMBEDDINGS,
): (address: Address | undefined) => boolean {
  if (!Array.isArray(entries)) {
    const fix = `Did you mean ${option}: ['10.0.0.0/8']?`
    throw wrongOption(owner, option, 'an array of IP addresses and CIDR ranges', entries, fix)
  }
  const ranges = entries.map((entry) => {
    const must = `${owner}: ${option} must hold IP addresses and CIDR ranges, got ${show(entry)}.`
    return readRange(must, entry, embeddings)
  })
  checkHostBits(owner, option, entries)
  return function isListed(address) {
    if (address === undefined) return false
    const bits = bitsOf(address)
    return ranges.some((range) => isInRange(bits, range))
  }
}

const CIDR = /^([^/]*)(?:\/(\d{1,3}))?$/

/**
 * Returns the range of an entry: an address or a CIDR range. Throws a `TypeError` that begins with `must` for
 * anything else.
 */
export function readRange(
  must: string,
  entry: unknown,
  embeddings: readonly Embedding[] = EMBEDDINGS,
): Range {
  const [, text = '', bits] = typeof entry === 'string' ? (CIDR.exec(entry) ?? []) : []
  const address = parseAsWritten(text)
  const width = typeof address === 'string' ? 32 : 128
  const prefix = Number(bits ?? width)
  if (address === undefined || prefix > width)
    throw new TypeError(`${must} Use an entry such as '192.0.2.7' or '2001:db8::/32'.`)
  if (typeof address === 'string') return [bitsOf(address), prefix]
  const embedding = embeddingOf(address, embeddings)
  const range: Range | undefined = embedding ? embeddedRange(address, prefix, embedding) : [address, prefix]
  if (range !== undefined) return range
  throw new TypeError(
    `${must} Addresses in that range count as the IPv4 addresses that they embed. Write the IPv4 range, such as '192.0.2.0/24'.`,
  )
}

/**
 * Returns the range of IPv4 addresses that a range within an embedding's network embeds; `undefined` if
 * the prefix ends outside of the IPv4 address. So it does in a whole network such as 2002::/16, which would
 * be every IPv4 address; only ::ffff:0:0/96 means that.
 */
function embeddedRange(address: Ipv6, prefix: number, embedding: Embedding): Range | undefined {
  const [, networkPrefix] = embedding.network
  if (prefix < networkPrefix && networkPrefix < 96) return [address, prefix] // holds more than the network
  const ipv4Prefix = prefix === 128 ? 32 : prefix - embedding.ipv4At
  if (ipv4Prefix < (embedding.isAllOfIpv4 ? 0 : 1) || ipv4Prefix > 32) return undefined
  const ipv4 = embeddedIpv4(address, embedding)
  return ipv4 === undefined ? [address, prefix] : [bitsOf(ipv4), ipv4Prefix]
}
