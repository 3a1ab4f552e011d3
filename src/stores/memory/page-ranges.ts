/** The most times that a range is halved. One part in a million of all hashes never fills a page. */
const MAX_DEPTH = 20

/**
 * Returns the place of a hash, from 0 to 1. The density of places doubles in that range, so the last page gets
 * twice as many hashes as the first.
 */
export function placeOf(high: number): number {
  const place = (high >>> 0) / 2 ** 32
  return place * (4 / 3 - place / 3)
}

/**
 * Counts hashes by the range of their place. Halves all ranges until each has at most `most` hashes.
 *
 * Element 1 of the result is the count of the whole range. Elements 2n and 2n + 1 are those of the halves of
 * the range of element n. Returns `undefined` if one of the smallest ranges has more.
 */
export function countByRange(highs: Int32Array, most: number): Uint32Array | undefined {
  const least = Math.ceil(Math.log2(Math.max(1, highs.length / most)))
  for (let depth = least; depth <= MAX_DEPTH; depth++) {
    const ranges = 2 ** depth
    const counts = new Uint32Array(2 * ranges)
    for (let i = 0; i < highs.length; i++) {
      const at = ranges + ((placeOf(highs[i] as number) * ranges) | 0)
      counts[at] = (counts[at] as number) + 1
    }
    if (!counts.every((count) => count <= most)) continue
    for (let i = ranges - 1; i > 0; i--) counts[i] = (counts[2 * i] as number) + (counts[2 * i + 1] as number)
    return counts
  }
  return undefined
}
