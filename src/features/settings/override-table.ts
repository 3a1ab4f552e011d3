import type { Address } from '../../keys/address.js'
import type { Embedding } from '../../keys/embedded-ipv4.js'
import { type Network, NetworkTable, networkOf } from '../../keys/network-table.js'
import type { Steps } from '../../util/slices.js'
import type { SettingsOverride } from './document.js'
import { endOf, rangeOf, rawIdentity } from './read-override.js'

/** The rows of a table. Those of networks have the indexes of the `NetworkTable`. */
interface RowsByTarget<Effect> {
  readonly byIdentity: ReadonlyMap<string, Row<Effect>>
  readonly byPrefix: ReadonlyMap<string, Row<Effect>>
  readonly byNetwork: readonly Row<Effect>[]
}

/** An override as a table holds it. */
export interface Row<Effect> {
  readonly override: SettingsOverride
  readonly effect: Effect
  /** When the override ends. */
  readonly endMs: number
  /** The network of the override, if that is its target. */
  readonly network: Network | undefined
}

/** Returns the row of an override. Throws a `TypeError` that names `path` if its network is not one here. */
export function rowOf<Effect>(
  path: string,
  override: SettingsOverride,
  effect: Effect,
  embeddings: readonly Embedding[],
): Row<Effect> {
  const { network, until } = override
  const bounds = network === undefined ? undefined : networkOf(rangeOf(path, network, embeddings))
  return { override, effect, endMs: endOf(until), network: bounds }
}

/**
 * Finds the override of an identity or of an address among thousands. The most specific one applies: the
 * identity itself, then its longest prefix, then the smallest network that contains the address. Overrides
 * that have ended are skipped.
 */
export class OverrideTable<Effect extends object> {
  readonly isEmpty: boolean
  readonly hasNetworks: boolean
  readonly #rows: RowsByTarget<Effect>
  /** The lengths of the prefixes, the longest first. There are at most `MAX_PREFIX`. */
  readonly #prefixLengths: readonly number[]
  readonly #networks: NetworkTable
  readonly #now: () => number

  private constructor(rows: RowsByTarget<Effect>, networks: NetworkTable, now: () => number) {
    const { byIdentity, byPrefix, byNetwork } = rows
    const lengths = new Set(Array.from(byPrefix.keys(), ({ length }) => length))
    this.#rows = rows
    this.#prefixLengths = Array.from(lengths).sort((a, b) => b - a)
    this.#networks = networks
    this.#now = now
    this.isEmpty = byIdentity.size + byPrefix.size + byNetwork.length === 0
    this.hasNetworks = byNetwork.length > 0
  }

  /** Makes the table of rows. */
  static *steps<Effect extends object>(
    rows: Iterable<Row<Effect>>,
    now: () => number = () => Date.now(),
  ): Steps<OverrideTable<Effect>> {
    const byIdentity = new Map<string, Row<Effect>>()
    const byPrefix = new Map<string, Row<Effect>>()
    const byNetwork: Row<Effect>[] = []
    const networks: Network[] = []
    for (const row of rows) {
      const { identity, identityPrefix } = row.override
      if (identity !== undefined) byIdentity.set(rawIdentity(identity), row)
      else if (identityPrefix !== undefined) byPrefix.set(identityPrefix, row)
      else if (row.network !== undefined) {
        byNetwork.push(row)
        networks.push(row.network)
      }
      yield
    }
    return new OverrideTable({ byIdentity, byPrefix, byNetwork }, yield* NetworkTable.steps(networks), now)
  }

  /** Returns the effect for an identity as its keys returned it; `undefined` if there is no override. */
  ofIdentity(raw: string): Effect | undefined {
    const { byIdentity, byPrefix } = this.#rows
    const row = byIdentity.get(raw)
    if (row !== undefined && this.#isCurrent(row)) return row.effect
    for (const length of this.#prefixLengths) {
      if (length > raw.length) continue
      const prefixed = byPrefix.get(raw.slice(0, length))
      if (prefixed !== undefined && this.#isCurrent(prefixed)) return prefixed.effect
    }
    return undefined
  }

  /** Returns the effect for an address; `undefined` if there is no override. */
  ofAddress(address: Address | undefined): Effect | undefined {
    if (address === undefined) return undefined
    const { byNetwork } = this.#rows
    let index = this.#networks.find(address)
    while (index >= 0 && !this.#isCurrent(byNetwork[index])) index = this.#networks.outerOf(index)
    return index < 0 ? undefined : byNetwork[index]?.effect
  }

  /** Returns whether an override has not ended. Reads the clock only for an override that has an end. */
  #isCurrent(row: Row<Effect> | undefined): boolean {
    return row !== undefined && (row.endMs === Number.POSITIVE_INFINITY || row.endMs > this.#now())
  }
}
