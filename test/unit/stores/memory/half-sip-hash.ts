const WORD = 2n ** 32n

/**
 * HalfSipHash-c-d as its authors specify it (https://github.com/veorq/SipHash), to compare with: slow, on
 * unsigned integers. Returns one word, or two for a hash of 64 bits.
 */
export function halfSipHash(
  c: number,
  d: number,
  key: Uint8Array,
  message: Uint8Array,
  words: 1 | 2,
): bigint[] {
  const k0 = wordAt(key, 0)
  const k1 = wordAt(key, 4)
  const v: [bigint, bigint, bigint, bigint] = [k0, k1, k0 ^ 0x6c796765n, k1 ^ 0x74656462n]
  if (words === 2) v[1] ^= 0xeen
  const padded = new Uint8Array((Math.floor(message.length / 4) + 1) * 4)
  padded.set(message)
  padded[padded.length - 1] = message.length
  for (let at = 0; at < padded.length; at += 4) {
    v[3] ^= wordAt(padded, at)
    for (let i = 0; i < c; i++) round(v)
    v[0] ^= wordAt(padded, at)
  }
  v[2] ^= words === 2 ? 0xeen : 0xffn
  const hash: bigint[] = []
  for (let word = 0; word < words; word++) {
    if (word === 1) v[1] ^= 0xddn
    for (let i = 0; i < d; i++) round(v)
    hash.push(v[1] ^ v[3])
  }
  return hash
}

function round(v: [bigint, bigint, bigint, bigint]): void {
  v[0] = (v[0] + v[1]) % WORD
  v[1] = rotate(v[1], 5n) ^ v[0]
  v[0] = rotate(v[0], 16n)
  v[2] = (v[2] + v[3]) % WORD
  v[3] = rotate(v[3], 8n) ^ v[2]
  v[0] = (v[0] + v[3]) % WORD
  v[3] = rotate(v[3], 7n) ^ v[0]
  v[2] = (v[2] + v[1]) % WORD
  v[1] = rotate(v[1], 13n) ^ v[2]
  v[2] = rotate(v[2], 16n)
}

function rotate(word: bigint, by: bigint): bigint {
  return ((word << by) | (word >> (32n - by))) % WORD
}

function wordAt(bytes: Uint8Array, at: number): bigint {
  return [3, 2, 1, 0].reduce((word, i) => word * 256n + BigInt(bytes[at + i] as number), 0n)
}
