/** How many hashes are kept of a set of names: fewer names are counted exactly. */
const MAX_HASHES = 1000
const HASHES = 4_294_967_296

/**
 * Counts distinct names in bounded memory, by the smallest of their hashes (Bar-Yossef and others, "Counting
 * distinct elements in a data stream", 2002). Fewer than 1,000 names are counted exactly; more are
 * estimated, with a standard error of 3%. Processes that hash the same names can merge what they kept.
 */
export class DistinctNames {
  readonly #hashes: number[] = []

  add(name: string): void {
    const hash = nameHash(name)
    const last = this.#hashes[MAX_HASHES - 1]
    if (last !== undefined && hash >= last) return
    const at = this.#indexOf(hash)
    if (this.#hashes[at] === hash) return
    this.#hashes.splice(at, 0, hash)
    if (this.#hashes.length > MAX_HASHES) this.#hashes.pop()
  }

  get count(): number {
    return distinctCount(this.#hashes)
  }

  hashes(): readonly number[] {
    return [...this.#hashes]
  }

  #indexOf(hash: number): number {
    let [from, to] = [0, this.#hashes.length]
    while (from < to) {
      const middle = (from + to) >>> 1
      if ((this.#hashes[middle] ?? HASHES) < hash) from = middle + 1
      else to = middle
    }
    return from
  }
}

export function distinctCount(hashes: readonly number[]): number {
  const last = hashes[MAX_HASHES - 1]
  return last === undefined ? hashes.length : Math.round(((MAX_HASHES - 1) * HASHES) / (last + 1))
}

/** Returns the smallest hashes of the union of two sets of names. */
export function mergeHashes(a: readonly number[], b: readonly number[]): readonly number[] {
  return [...new Set([...a, ...b])].sort((one, other) => one - other).slice(0, MAX_HASHES)
}

/** FNV-1a over UTF-16 code units, with the final mix of MurmurHash3: similar names get unrelated hashes. */
export function nameHash(name: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
