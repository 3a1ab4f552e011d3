import { fillRandom, utf16BytesOf } from '../../platform.js'

/** The bit that stands for a NUL in a key. No character has it. */
const NUL = 0x10000

/** Where the hashes of keys with a common beginning start: after the whole words of that beginning. */
export interface HashStart {
  readonly beginning: string
  readonly v0: number
  readonly v1: number
  readonly v2: number
  readonly v3: number
  /** The bytes of the beginning that do not fill a word. */
  readonly word: number
  /** What `#runRounds` returns for the characters of the beginning. */
  readonly seen: number
}

/**
 * Hashes keys to 64 bits under its own secret, so that no client can construct keys that collide:
 * HalfSipHash-1-3 by Aumasson and Bernstein, which Linux uses for its hash tables (`hsiphash`). A key of
 * characters below 256 is hashed as bytes; any other as UTF-16 under a second secret, so that neither kind
 * can imitate the other.
 *
 * `high` and `low` hold the hash, 32 bits each, until the next key is hashed: an object would cost as much
 * as the rounds. `low` is never 0. `isPlain` says whether all characters of the key are from U+0001 to
 * U+00FF: the rounds read each of them anyway.
 */
export class KeyHash {
  high = 0
  low = 0
  isPlain = true
  /** The secret; `undefined` until the first hash. */
  secret: Int32Array | undefined
  #starts: Starts | undefined
  /** The state after the last round. */
  readonly #state = new Int32Array(4)

  /**
   * Takes a secret of four 32-bit numbers, two for bytes and two for UTF-16. Default: random, drawn at the
   * first hash, since Cloudflare Workers have no random numbers while modules load.
   */
  constructor(secret?: Int32Array) {
    this.secret = secret
  }

  /** Hashes a key: the beginning that is hashed already, `text` and `end`. Returns `low`. */
  hash(text: string, start = this.#keyed().bytes, end = ''): number {
    const length = start.beginning.length + text.length + end.length
    const seen = this.#runRounds(text, end, start, length, (length >> 2) + 7) // the last, partial word, and six more
    this.isPlain = seen < 256
    if ((seen & ~NUL) < 256) return this.low
    const bytes = utf16BytesOf(start.beginning + text + end)
    this.#runRounds(bytes, '', this.#keyed().wide, bytes.length, (bytes.length >> 2) + 7)
    return this.low
  }

  /** Returns where keys with this beginning start. */
  startAfter(beginning: string): HashStart {
    const words = beginning.length >> 2
    let seen = this.#runRounds(beginning, '', this.#keyed().bytes, beginning.length, words)
    const [v0 = 0, v1 = 0, v2 = 0, v3 = 0] = this.#state
    let word = 0
    for (let at = 4 * words; at < beginning.length; at++) {
      const char = beginning.charCodeAt(at)
      seen |= char
      word |= char << (8 * (at & 3))
    }
    return { beginning, v0, v1, v2, v3, word, seen }
  }

  #keyed(): Starts {
    this.secret ??= fillRandom(new Int32Array(4))
    this.#starts ??= startsUnder(this.secret)
    return this.#starts
  }

  /**
   * Runs the rounds up to number `rounds` of a key of `length` characters. Returns all of its characters,
   * combined by OR, with the bit `NUL` if one of them is NUL. One loop, so that the round is written once.
   */
  #runRounds(text: string, end: string, start: HashStart, length: number, rounds: number): number {
    let { v0, v1, v2, v3, word, seen } = start
    let shift = 8 * (start.beginning.length & 3)
    let at = 0
    const words = length >> 2
    const lastWhole = text.length - 4
    let lessOne = 0 // negative if a character is NUL
    for (let i = start.beginning.length >> 2; i < rounds; i++) {
      if (i <= words) {
        if (shift === 0 && at <= lastWhole) {
          const a = text.charCodeAt(at)
          const b = text.charCodeAt(at + 1)
          const c = text.charCodeAt(at + 2)
          const d = text.charCodeAt(at + 3)
          seen |= a | b | c | d
          lessOne |= (a - 1) | (b - 1) | (c - 1) | (d - 1)
          word = a | (b << 8) | (c << 16) | (d << 24)
          at += 4
          shift = 32
        }
        for (const bits = i < words ? 32 : 8 * (length & 3); shift < bits; shift += 8) {
          const char = at < text.length ? text.charCodeAt(at) : end.charCodeAt(at - text.length)
          seen |= char
          lessOne |= char - 1
          word |= char << shift
          at++
        }
        if (i === words) word |= length << 24
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
      word = 0
      shift = 0
    }
    this.high = v1 ^ v3
    this.#state[0] = v0
    this.#state[1] = v1
    this.#state[2] = v2
    this.#state[3] = v3
    return lessOne < 0 ? seen | NUL : seen
  }
}

/** Where the hashes of whole keys start. */
interface Starts {
  readonly bytes: HashStart
  readonly wide: HashStart
}

function startsUnder([a = 0, b = 0, c = 0, d = 0]: Int32Array): Starts {
  return { bytes: startOf(a, b), wide: startOf(c, d) }
}

function startOf(k0: number, k1: number): HashStart {
  return { beginning: '', v0: k0, v1: k1 ^ 0xee, v2: k0 ^ 0x6c796765, v3: k1 ^ 0x74656462, word: 0, seen: 0 }
}
