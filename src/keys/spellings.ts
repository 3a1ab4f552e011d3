import { addressIdentity, parseAddress } from './address.js'
import type { IdentityOptions } from './identity.js'
import { fold, normalizeName } from './name.js'
import { DEFAULT_IPV6_PREFIX } from './source-address.js'
import { identityOfValue, isKey, keylessIdentityOf, separatorOf, valueHash } from './value-identity.js'

/** What stored identities look like: printable, without blanks. */
const IDENTITY = /^[!-~]{1,400}$/
/** The networks of IPv6 by which limits usually identify clients, the default first. */
const IPV6_PREFIXES = [56, 64, 48, 60, 128, 32]

/**
 * Returns the identities under which stores may have what a person typed: an identity as it is stored, an
 * address, also of requests without a key, a user, a name, or another value of a key function. Empty if the
 * text cannot be a key. An identity that several key functions make together can only be found as it is
 * stored. An IPv6 address stands for its networks of `ipv6Prefixes`, by default the usual ones.
 */
export function spellingsOf(
  text: string,
  { secret, isLocal }: Omit<IdentityOptions, 'readAddress'>,
  ipv6Prefixes: readonly number[] = IPV6_PREFIXES,
): readonly string[] {
  const trimmed = text.trim()
  if (trimmed === '' || !isKey(trimmed)) return []
  const address = parseAddress(trimmed)
  const networks = address === undefined ? [] : ipv6Prefixes.map((prefix) => addressIdentity(address, prefix))
  const name = normalizeName(trimmed, fold) // malformed if it has invisible characters, as for byField
  const values = [
    trimmed,
    text,
    ...(name === undefined ? [] : [name]),
    `user:${trimmed}`,
    ...networks,
    ...networks.map((network) => `anonymous:${network}`),
  ]
  const separator = separatorOf({ secret, isLocal })
  const asStored = IDENTITY.test(trimmed) ? [trimmed, trimmed.replaceAll('|', separator)] : []
  const inClear = secret === undefined ? networks : []
  const identities = values.map(identityOfValue({ secret, isLocal }))
  const hashes = values.map(valueHash(secret)) // a login guard hashes accounts in this process also
  const keyless =
    address === undefined ? [] : [keylessIdentityOf(secret)(addressIdentity(address, DEFAULT_IPV6_PREFIX))]
  return [...new Set([...asStored, ...inClear, ...identities, ...hashes, ...keyless])]
}
