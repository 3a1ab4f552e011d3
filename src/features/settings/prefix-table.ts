import type { Steps } from '../../util/slices.js'

/**
 * Finds the longest of many prefixes that a text begins with, in one pass over the text: it hashes the text
 * character by character, and looks the hash up at each length that a prefix has.
 */
export class PrefixTable {
  readonly #prefixes: readonly string[]
  /** Whether there are prefixes of a length. */
  readonly #hasLength: Uint8Array
  /**
   * An open-addressing table of hashes, each with the index of its prefix plus 1. 0 marks an empty place.
   */
  readonly #hashes: Int32Array
  readonly #places: Int32Array
  readonly #mask: number
  readonly #hits: Int32Array

  private constructor(prefixes: readonly string[], maxLength: number) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(1, prefixes.length) * 4))
    this.#prefixes = prefixes
    this.#hasLength = new Uint8Array(maxLength + 1)
    this.#hashes = new Int32Array(size)
    this.#places = new Int32Array(size)
    this.#mask = size - 1
    this.#hits = new Int32Array(this.#hasLength.length)
  }

  /** Makes the table of distinct prefixes, none of them empty. */
  static *steps(prefixes: readonly string[]): Steps<PrefixTable> {
    let maxLength = 0
    for (const { length } of prefixes) maxLength = Math.max(maxLength, length)
    const table = new PrefixTable(prefixes, maxLength)
    for (const [i, prefix] of prefixes.entries()) {
      table.#add(prefix, i)
      yield
    }
    return table
  }

  #add(prefix: string, index: number): void {
    let hash = SEED
    for (let i = 0; i < prefix.length; i++) hash = nextHash(hash, prefix.charCodeAt(i))
    let place = placeOf(hash, this.#mask)
    while (this.#places[place] !== 0) place = (place + 1) & this.#mask
    this.#hashes[place] = hash
    this.#places[place] = index + 1
    this.#hasLength[prefix.length] = 1
  }

  /** Returns the index of the text's longest prefix that `isAccepted` accepts; -1 if there is none. */
  find(text: string, isAccepted: (index: number) => boolean): number {
    const hits = this.#findHashes(text)
    for (let i = hits - 1; i >= 0; i--) {
      const index = this.#hits[i] as number
      if (text.startsWith(this.#prefixes[index] as string) && isAccepted(index)) return index
    }
    return -1
  }

  /** Collects the prefixes whose hash and length match the beginning of the text, the longest last. */
  #findHashes(text: string): number {
    const hasLength = this.#hasLength
    const length = Math.min(text.length, hasLength.length - 1)
    let hits = 0
    let hash = SEED
    for (let i = 0; i < length; i++) {
      hash = nextHash(hash, text.charCodeAt(i))
      if (hasLength[i + 1] === 0) continue
      let place = placeOf(hash, this.#mask)
      for (; this.#places[place] !== 0; place = (place + 1) & this.#mask)
        if (this.#hashes[place] === hash) {
          const index = (this.#places[place] as number) - 1
          if (this.#prefixes[index]?.length === i + 1) this.#hits[hits++] = index // or the hashes collide
        }
    }
    return hits
  }
}

/** FNV-1a over UTF-16 code units (http://www.isthe.com/chongo/tech/comp/fnv/). */
const SEED = 0x811c9dc5 | 0
function nextHash(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193)
}

function placeOf(hash: number, mask: number): number {
  return (hash ^ (hash >>> 15)) & mask
}
