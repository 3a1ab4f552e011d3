import { bytesOfWords, paddedBlocks } from './sha-blocks.js'

const ROUNDS = 80
/** Where a hash starts, and what each 20 rounds add (FIPS 180-4, sections 4.2.1 and 5.3.1). */
const START = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]
const ADDED = [0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6]

/** Returns the SHA-1 of some bytes, for platforms without a synchronous one. Redis names scripts by it. */
export function sha1Bytes(bytes: Uint8Array): Uint8Array {
  const state = Int32Array.from(START)
  const blocks = paddedBlocks(bytes, 0)
  for (let at = 0; at < blocks.byteLength; at += 64) compress(state, blocks, at)
  return bytesOfWords(state)
}

/** Hashes a block into the state (section 6.1.2). */
function compress(state: Int32Array, blocks: DataView, at: number): void {
  const schedule: number[] = []
  const scheduled = (i: number) => schedule[i] ?? 0
  let [a = 0, b = 0, c = 0, d = 0, e = 0] = state
  for (let i = 0; i < ROUNDS; i++) {
    const mixed = scheduled(i - 3) ^ scheduled(i - 8) ^ scheduled(i - 14) ^ scheduled(i - 16)
    const word = i < 16 ? blocks.getInt32(at + 4 * i) : turn(mixed, 1)
    schedule.push(word)
    const quarter = Math.floor(i / 20)
    const next = (turn(a, 5) + mix(quarter, b, c, d) + e + word + (ADDED[quarter] ?? 0)) | 0
    e = d
    d = c
    c = turn(b, 30)
    b = a
    a = next
  }
  const added = [a, b, c, d, e]
  for (let i = 0; i < 5; i++) state[i] = (state[i] ?? 0) + (added[i] ?? 0)
}

function mix(quarter: number, b: number, c: number, d: number): number {
  if (quarter === 0) return (b & c) ^ (~b & d)
  if (quarter === 2) return (b & c) ^ (b & d) ^ (c & d)
  return b ^ c ^ d
}

function turn(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
}
