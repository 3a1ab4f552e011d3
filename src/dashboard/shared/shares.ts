/**
 * Divides places among lists of different lengths. Each gets an equal share, and what short lists leave goes to the
 * others.
 */
export function sharesOf(lengths: readonly number[], places: number): readonly number[] {
  const shares = lengths.map(() => 0)
  const order = lengths.map((_, i) => i).sort((a, b) => (lengths[a] ?? 0) - (lengths[b] ?? 0))
  let left = places
  for (const [done, index] of order.entries()) {
    const share = Math.min(lengths[index] ?? 0, Math.floor(left / (order.length - done)))
    shares[index] = share
    left -= share
  }
  return shares
}
