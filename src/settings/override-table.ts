import type { Address } from '../keys/address.js'
import type { Embedding } from '../keys/embedded-ipv4.js'
import { bitsOf, networkKey, type Range, rangeKey } from '../keys/network-key.js'
import { shownIdentity } from '../keys/value-identity.js'
import type { SettingsOverride } from '../limiter/settings-document.js'
import type { Steps } from '../util/slices.js'
import { endOf } from './read-override.js'
import { rawIdentity, readNetwork } from './read-target.js'

/** What a table holds about an override. */
export interface Row {
  readonly override: SettingsOverride
  /** When the override ends. */
  readonly endMs: number
  /** The network of the override, if that is its target. */
  readonly range: Range | undefined
}

/**
 * Returns the row of an override. Throws a `TypeError` that names `path` if the limiter reads addresses in
 * its IPv6 network as IPv4.
 */
export function rowOf(path: string, override: SettingsOverride, embeddings: readonly Embedding[]): Row {
  const { network } = override
  const endMs = endOf(override)
  if (network === undefined) return { override, endMs, range: undefined }
  return { override, endMs, range: readNetwork(`settings: ${path}.network`, network, embeddings) }
}

/**
 * Finds the override of an identity or of an address among thousands. The most specific one applies: the
 * identity itself, then its longest prefix, then the smallest network that contains the address. An override
 * by the identity as stores keep it precedes one by the identity that the keys returned: an operator who
 * sees only a hash must be able to stop a client, whatever overrides it has. Overrides that have ended are
 * skipped.
 */
export interface OverrideTable<Found extends Row> {
  readonly isEmpty: boolean
  readonly hasNetworks: boolean
  /**
   * Returns the row for an identity as its keys returned it, and as this process counts it; `undefined` if
   * there is no override.
   */
  ofIdentity(raw: string, identity: string): Found | undefined
  /** Returns the row for an address; `undefined` if there is no override. */
  ofAddress(address: Address | undefined): Found | undefined
}

/** Makes the table of rows. */
export function* overrideTable<Found extends Row>(
  rows: readonly Found[],
  now = () => Date.now(),
): Steps<OverrideTable<Found>> {
  const byStored = new Map<string, Found>()
  const byIdentity = new Map<string, Found>()
  const byPrefix = new Map<string, Found>()
  /**
   * The rows by length of prefix, then by the key of their network. A limiter may read two networks as one:
   * the later row comes first.
   */
  const networks = new Map<number, Map<number | string, readonly Found[]>>()
  for (const row of rows) {
    const { range, override } = row
    const { identity, storedIdentity, identityPrefix } = override
    if (storedIdentity !== undefined) byStored.set(storedIdentity, row)
    else if (identity !== undefined) byIdentity.set(rawIdentity(identity), row)
    else if (identityPrefix !== undefined) byPrefix.set(identityPrefix, row)
    else if (range !== undefined) {
      const ofLength = networks.get(range[1]) ?? new Map<number | string, readonly Found[]>()
      const key = rangeKey(range)
      networks.set(range[1], ofLength.set(key, [row, ...(ofLength.get(key) ?? [])]))
    }
    yield
  }
  const lengths = new Set(Array.from(byPrefix.keys(), ({ length }) => length))
  const longestFirst = Array.from(lengths).sort((a, b) => b - a)
  const smallestFirst = Array.from(networks).sort(([a], [b]) => b - a)

  /** Returns a row unless it has ended. Reads the clock only for an override that has an end. */
  const unlessEnded = (row: Found | undefined) =>
    row === undefined || row.endMs === Number.POSITIVE_INFINITY || row.endMs > now() ? row : undefined

  return {
    isEmpty: rows.length === 0,
    hasNetworks: networks.size > 0,
    ofIdentity(raw, identity) {
      let row = byStored.size === 0 ? undefined : unlessEnded(byStored.get(shownIdentity(identity)))
      row ??= unlessEnded(byIdentity.get(raw))
      for (let i = 0; row === undefined && i < longestFirst.length; i++) {
        const length = longestFirst[i] as number
        if (length <= raw.length) row = unlessEnded(byPrefix.get(raw.slice(0, length)))
      }
      return row
    },
    ofAddress(address) {
      if (address === undefined) return undefined
      const bits = bitsOf(address)
      for (const [prefix, rows] of smallestFirst) {
        const row = rows.get(networkKey(bits, prefix))?.find(unlessEnded)
        if (row !== undefined) return row
      }
      return undefined
    },
  }
}
