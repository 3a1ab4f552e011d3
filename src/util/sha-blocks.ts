const BLOCK_BYTES = 64

/**
 * Returns the blocks of a message for SHA-1 and SHA-256: its bytes, the bit 1, zeros, and the number of its
 * bits (FIPS 180-4, section 5.1.1). The number includes `before` bytes, in whole blocks, that are already
 * hashed.
 */
export function paddedBlocks(bytes: Uint8Array, before: number): DataView {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / BLOCK_BYTES) * BLOCK_BYTES)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  const view = new DataView(padded.buffer)
  const length = before + bytes.length
  view.setUint32(padded.length - 8, length / 2 ** 29)
  view.setUint32(padded.length - 4, length << 3)
  return view
}

/** Returns the bytes of 32-bit words, in big-endian order. */
export function bytesOfWords(words: Int32Array): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(4 * words.length))
  words.forEach((word, i) => {
    bytes.setInt32(4 * i, word)
  })
  return new Uint8Array(bytes.buffer)
}
