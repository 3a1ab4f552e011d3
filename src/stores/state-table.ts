import type { Policy, State } from '../policies/policy.js'

/** One key's state, and the policy that reads it. */
export interface Entry {
  readonly key: string
  readonly policy: Policy
  state: State | undefined
}

/** Any collection of keys that can be asked. */
type Keys = Pick<ReadonlySet<string>, 'has'>

/** How many entries each newcomer looks at for fresh ones to drop, so that the table follows its live keys. */
const SWEPT_PER_NEWCOMER = 2
/** How many entries a newcomer looks at, at most, to find room in a full table. */
const SEARCHED_WHEN_FULL = 32

/**
 * States by key, at most `maxKeys` of them. A hand goes round the entries and drops those that equal fresh ones, a few
 * at each newcomer: no timer, and no sweep over everything.
 */
export class StateTable {
  readonly #entries = new Map<string, Entry>()
  readonly #overflow = new Map<string, Entry>()
  readonly #maxKeys: number
  #hand = this.#entries.values()

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys
  }

  get size(): number {
    return this.#entries.size
  }

  find(key: string): Entry | undefined {
    return this.#entries.get(key) ?? this.#overflow.get(key)
  }

  /** Keeps a state. A newcomer needs room from `makeRoom` first. */
  set(key: string, policy: Policy, state: State): void {
    const entry = this.find(key)
    if (entry === undefined) this.#entries.set(key, { key, policy, state })
    else entry.state = state
  }

  delete(key: string): void {
    if (!this.#entries.delete(key)) this.#overflow.delete(key)
  }

  /** The entry that pays for a key: its own, or where it has none, the one that it would share with other newcomers. */
  payer(key: string, policy: Policy): Entry | undefined {
    return this.find(key) ?? this.#overflow.get(overflowKeyOf(key, policy))
  }

  /** The one entry that newcomers of a limit share when there is no room for them. */
  overflow(key: string, policy: Policy): Entry {
    const overflowKey = overflowKeyOf(key, policy)
    const entry = this.#overflow.get(overflowKey) ?? { key: overflowKey, policy, state: undefined }
    this.#overflow.set(overflowKey, entry)
    return entry
  }

  /**
   * Drops some states that equal fresh ones, and where there is still no room for `wanted` newcomers, the one that is
   * nearest to fresh, never one of the `spared` keys. False = there is no room, and nobody to free.
   */
  makeRoom(nowMs: number, wanted: number, spared?: Keys): boolean {
    for (let i = 0; i < SWEPT_PER_NEWCOMER; i++) {
      const entry = this.#next()
      if (entry !== undefined && resetAfterMs(entry, nowMs) === 0) this.#entries.delete(entry.key)
    }
    if (this.#entries.size + wanted > this.#maxKeys) {
      const victim = this.#nearestToFresh(nowMs, spared)
      if (victim !== undefined) this.#entries.delete(victim.key)
    }
    return this.#entries.size + wanted <= this.#maxKeys
  }

  #nearestToFresh(nowMs: number, spared: Keys | undefined): Entry | undefined {
    let best: Entry | undefined
    let bestShare = 0
    for (let looks = Math.min(SEARCHED_WHEN_FULL, this.#entries.size); looks > 0; looks--) {
      const entry = this.#next()
      if (entry === undefined) break
      if (spared?.has(entry.key)) continue
      const { remaining, resetAfterMs } = entry.policy.take(entry.state, nowMs, 0)
      const share = resetAfterMs === 0 ? 1 : remaining / entry.policy.limit // 0 = at its limit, never chosen
      if (share > bestShare) {
        best = entry
        bestShare = share
      }
    }
    return best
  }

  /** The entry under the hand, which then moves on; it goes round again at the end. */
  #next(): Entry | undefined {
    const { value, done } = this.#hand.next()
    if (!done) return value
    this.#hand = this.#entries.values()
    return this.#hand.next().value
  }
}

/** Limits apart: a key is the same for all clients of a limit up to the brace. No key at rest begins with a NUL. */
function overflowKeyOf(key: string, policy: Policy): string {
  const head = key.slice(0, Math.max(0, key.indexOf('{')))
  return `\0${head}${policy.kind}:${policy.params.join(':')}`
}

function resetAfterMs({ policy, state }: Entry, nowMs: number): number {
  return policy.take(state, nowMs, 0).resetAfterMs
}
