import { getRandomValues } from 'node:crypto'

interface Secret {
  readonly k0: number
  readonly k1: number
}

/**
 * Hashes keys to 64 bits under a secret of its own, so that nobody can construct keys that collide:
 * HalfSipHash-1-3 by Aumasson and Bernstein, which Linux uses for its hash tables (`hsiphash`). A key of
 * characters below 256 is hashed as bytes; any other as UTF-16 under a second secret, so that neither kind
 * can imitate the other.
 *
 * `high` and `low` hold the hash, 32 bits each, until the next key is hashed: an object would cost as much
 * as the rounds. `low` is never 0.
 */
export class KeyHash {
  high = 0
  low = 0
  readonly #bytes: Secret
  readonly #wide: Secret

  /** Takes a secret of four 32-bit numbers, two for bytes and two for UTF-16. Default: random. */
  constructor([a = 0, b = 0, c = 0, d = 0]: Int32Array = getRandomValues(new Int32Array(4))) {
    this.#bytes = { k0: a, k1: b }
    this.#wide = { k0: c, k1: d }
  }

  /** Hashes a key. Returns `low`. */
  hash(key: string): number {
    if (this.#hash(key, this.#bytes) >= 256)
      this.#hash(Buffer.from(key, 'utf16le').toString('latin1'), this.#wide)
    return this.low
  }

  /** Returns a number below 256 if all characters are. One loop, so that the round is written once. */
  #hash(key: string, { k0, k1 }: Secret): number {
    let v0 = k0
    let v1 = k1 ^ 0xee
    let v2 = k0 ^ 0x6c796765
    let v3 = k1 ^ 0x74656462
    let seen = 0
    const words = key.length >> 2 // then the last, partial word, and six rounds without one
    for (let i = 0; i < words + 7; i++) {
      let word = 0
      if (i < words) {
        const c0 = key.charCodeAt(4 * i)
        const c1 = key.charCodeAt(4 * i + 1)
        const c2 = key.charCodeAt(4 * i + 2)
        const c3 = key.charCodeAt(4 * i + 3)
        seen |= c0 | c1 | c2 | c3
        word = c0 | (c1 << 8) | (c2 << 16) | (c3 << 24)
      } else if (i === words) {
        word = key.length << 24
        for (let at = 4 * words; at < key.length; at++) {
          const char = key.charCodeAt(at)
          seen |= char
          word |= char << (8 * (at & 3))
        }
      } else if (i === words + 1) {
        v2 ^= 0xee
      } else if (i === words + 4) {
        this.low = v1 ^ v3 || 1
        v1 ^= 0xdd
      }
      v3 ^= word
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      v0 ^= word
    }
    this.high = v1 ^ v3
    return seen
  }
}
