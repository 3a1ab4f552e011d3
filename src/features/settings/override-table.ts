import type { Address } from '../../keys/address.js'
import { readRange } from '../../keys/address-list.js'
import type { Embedding } from '../../keys/embedded-ipv4.js'
import { NetworkTable } from '../../keys/network-table.js'
import type { SettingsOverride } from './document.js'
import { PrefixTable } from './prefix-table.js'
import { endOf, rawIdentity } from './read-override.js'

/** An override's effect, and when it ends. */
interface Row<Effect> {
  readonly effect: Effect
  readonly endMs: number
}

/**
 * Finds the override of an identity or of an address among thousands. The most specific one applies: the
 * identity itself, then its longest prefix, then the smallest network that contains the address. Overrides
 * that have ended are skipped.
 */
export class OverrideTable<Effect extends object> {
  readonly isEmpty: boolean
  readonly hasNetworks: boolean
  readonly #byIdentity = new Map<string, Row<Effect>>()
  readonly #byPrefix: readonly Row<Effect>[]
  readonly #byNetwork: readonly Row<Effect>[]
  readonly #prefixes: PrefixTable | undefined
  readonly #networks: NetworkTable
  readonly #isCurrentPrefix: (index: number) => boolean
  readonly #now: () => number

  constructor(
    overrides: readonly SettingsOverride[],
    effectOf: (override: SettingsOverride, index: number) => Effect,
    embeddings: readonly Embedding[],
    now: () => number = () => Date.now(),
  ) {
    const prefixes: [string, Row<Effect>][] = []
    const networks: [string, Row<Effect>][] = []
    for (const [i, override] of overrides.entries()) {
      const { identity, identityPrefix, network, until } = override
      const row = { effect: effectOf(override, i), endMs: endOf(until) }
      if (identity !== undefined) this.#byIdentity.set(rawIdentity(identity), row)
      else if (identityPrefix !== undefined) prefixes.push([identityPrefix, row])
      else if (network !== undefined) networks.push([network, row])
    }
    this.#byPrefix = prefixes.map(([, row]) => row)
    this.#byNetwork = networks.map(([, row]) => row)
    this.#prefixes = prefixes.length > 0 ? new PrefixTable(prefixes.map(([prefix]) => prefix)) : undefined
    this.#networks = new NetworkTable(networks.map(([network]) => readRange('', network, embeddings)))
    this.#isCurrentPrefix = (index) => this.#isCurrent(this.#byPrefix[index])
    this.#now = now
    this.isEmpty = overrides.length === 0
    this.hasNetworks = networks.length > 0
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
