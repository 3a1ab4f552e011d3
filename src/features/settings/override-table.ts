import type { Address } from '../../keys/address.js'
import type { Embedding } from '../../keys/embedded-ipv4.js'
import { type Network, NetworkTable, networkOf } from '../../keys/network-table.js'
import type { Steps } from '../../util/slices.js'
import type { SettingsOverride } from './document.js'
import { PrefixTable } from './prefix-table.js'
import { endOf, rangeOf, rawIdentity } from './read-override.js'

/** The rows of a table. Those of prefixes and networks have the indexes of `Tables`. */
interface RowsByTarget<Effect> {
  readonly byIdentity: ReadonlyMap<string, Row<Effect>>
  readonly byPrefix: readonly Row<Effect>[]
  readonly byNetwork: readonly Row<Effect>[]
}

interface Tables {
  readonly prefixes: PrefixTable | undefined
  readonly networks: NetworkTable
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
  readonly #byIdentity: ReadonlyMap<string, Row<Effect>>
  readonly #byPrefix: readonly Row<Effect>[]
  readonly #byNetwork: readonly Row<Effect>[]
  readonly #prefixes: PrefixTable | undefined
  readonly #networks: NetworkTable
  readonly #isCurrentPrefix: (index: number) => boolean
  readonly #now: () => number

  private constructor(
    { byIdentity, byPrefix, byNetwork }: RowsByTarget<Effect>,
    tables: Tables,
    now: () => number,
  ) {
    this.#byIdentity = byIdentity
    this.#byPrefix = byPrefix
    this.#byNetwork = byNetwork
    this.#prefixes = tables.prefixes
    this.#networks = tables.networks
    this.#isCurrentPrefix = (index) => this.#isCurrent(this.#byPrefix[index])
    this.#now = now
    this.isEmpty = byIdentity.size + byPrefix.length + byNetwork.length === 0
    this.hasNetworks = byNetwork.length > 0
  }

  /** Makes the table of rows. */
  static *steps<Effect extends object>(
    rows: Iterable<Row<Effect>>,
    now: () => number = () => Date.now(),
  ): Steps<OverrideTable<Effect>> {
    const byIdentity = new Map<string, Row<Effect>>()
    const byPrefix: Row<Effect>[] = []
    const byNetwork: Row<Effect>[] = []
    const prefixes: string[] = []
    const networks: Network[] = []
    for (const row of rows) {
      const { identity, identityPrefix } = row.override
      if (identity !== undefined) byIdentity.set(rawIdentity(identity), row)
      else if (row.network !== undefined) {
        byNetwork.push(row)
        networks.push(row.network)
      } else if (identityPrefix !== undefined) {
        byPrefix.push(row)
        prefixes.push(identityPrefix)
      }
      yield
    }
    const tables = {
      prefixes: prefixes.length > 0 ? yield* PrefixTable.steps(prefixes) : undefined,
      networks: yield* NetworkTable.steps(networks),
    }
    return new OverrideTable({ byIdentity, byPrefix, byNetwork }, tables, now)
  }

  /** Returns the effect for an identity as its keys returned it; `undefined` if there is no override. */
  ofIdentity(raw: string): Effect | undefined {
    const row = this.#byIdentity.get(raw)
    if (row !== undefined && this.#isCurrent(row)) return row.effect
    if (this.#prefixes === undefined) return undefined
    const index = this.#prefixes.find(raw, this.#isCurrentPrefix)
    return index < 0 ? undefined : this.#byPrefix[index]?.effect
  }

  /** Returns the effect for an address; `undefined` if there is no override. */
  ofAddress(address: Address | undefined): Effect | undefined {
    if (address === undefined) return undefined
    let index = this.#networks.find(address)
    while (index >= 0 && !this.#isCurrent(this.#byNetwork[index])) index = this.#networks.outerOf(index)
    return index < 0 ? undefined : this.#byNetwork[index]?.effect
  }

  /** Returns whether an override has not ended. Reads the clock only for an override that has an end. */
  #isCurrent(row: Row<Effect> | undefined): boolean {
    return row !== undefined && (row.endMs === Number.POSITIVE_INFINITY || row.endMs > this.#now())
  }
}
