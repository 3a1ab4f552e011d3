import { bytesOfWords, paddedBlocks } from './sha-blocks.js'

const BLOCK_BYTES = 64
const ROUNDS = 64

/** The constants of the algorithm: where a hash starts, and what each round adds. */
interface Constants {
  readonly start: Int32Array
  readonly rounds: Int32Array
}

let constants: Constants | undefined
const schedule = new Int32Array(ROUNDS)

/** Returns the SHA-256 of some bytes (FIPS 180-4), for platforms without a synchronous one. */
export function sha256Bytes(bytes: Uint8Array): Uint8Array {
  constants ??= makeConstants()
  return hashFrom(constants.start, 0, bytes, constants)
}

/**
 * Creates the function that returns the HMAC-SHA-256 of some bytes under a key (RFC 2104). The two blocks of
 * the key are hashed once.
 */
export function hmacSha256Bytes(key: Uint8Array): (bytes: Uint8Array) => Uint8Array {
  constants ??= makeConstants()
  const all = constants
  const short = key.length > BLOCK_BYTES ? sha256Bytes(key) : key
  const startOf = (pad: number) => {
    const block = new Uint8Array(BLOCK_BYTES).fill(pad)
    short.forEach((byte, i) => {
      block[i] = byte ^ pad
    })
    const state = all.start.slice()
    compress(state, new DataView(block.buffer), 0, all.rounds)
    return state
  }
  const inner = startOf(0x36)
  const outer = startOf(0x5c)
  return (bytes) => hashFrom(outer, BLOCK_BYTES, hashFrom(inner, BLOCK_BYTES, bytes, all), all)
}

/** Continues a hash whose state was reached after `before` bytes. */
function hashFrom(start: Int32Array, before: number, bytes: Uint8Array, { rounds }: Constants): Uint8Array {
  const state = start.slice()
  const blocks = paddedBlocks(bytes, before)
  for (let at = 0; at < blocks.byteLength; at += BLOCK_BYTES) compress(state, blocks, at, rounds)
  return bytesOfWords(state)
}

/** Hashes a block into the state (section 6.2.2). */
function compress(state: Int32Array, blocks: DataView, at: number, rounds: Int32Array): void {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state
  for (let i = 0; i < ROUNDS; i++) {
    const word = i < 16 ? blocks.getInt32(at + 4 * i) : nextWord(i)
    schedule[i] = word
    const sumE = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)
    const one = (h + sumE + ((e & f) ^ (~e & g)) + (rounds[i] ?? 0) + word) | 0
    const sumA = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)
    const two = sumA + ((a & b) ^ (a & c) ^ (b & c))
    h = g
    g = f
    f = e
    e = (d + one) | 0
    d = c
    c = b
    b = a
    a = (one + two) | 0
  }
  const added = [a, b, c, d, e, f, g, h]
  for (let i = 0; i < 8; i++) state[i] = (state[i] ?? 0) + (added[i] ?? 0)
}

function nextWord(i: number): number {
  const near = schedule[i - 2] ?? 0
  const far = schedule[i - 15] ?? 0
  const sum = (turn(near, 17) ^ turn(near, 19) ^ (near >>> 10)) + (turn(far, 7) ^ turn(far, 18) ^ (far >>> 3))
  return (sum + (schedule[i - 7] ?? 0) + (schedule[i - 16] ?? 0)) | 0
}

function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}

/**
 * The first 32 bits of the fractions of the square and cube roots of the first primes (sections 4.2.2,
 * 5.3.3).
 */
function makeConstants(): Constants {
  const primes: number[] = []
  for (let n = 2; primes.length < ROUNDS; n++) if (primes.every((prime) => n % prime > 0)) primes.push(n)
  const fraction = (root: number) => ((root % 1) * 2 ** 32) | 0
  return {
    start: Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
    rounds: Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
  }
}
