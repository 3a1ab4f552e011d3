/** Returns counts as a short text: joined by commas, without zeros. */
export function countText(counts: readonly number[]): string {
  return counts.some((count) => count > 0) ? counts.map((count) => count || '').join() : ''
}

/** Returns the counts of a text. Throws for more or fewer than `length`. */
export function countsIn(text: unknown, length: number): readonly number[] {
  if (text === '') return Array<number>(length).fill(0)
  if (typeof text !== 'string' || text.length > 20 * length) throw new TypeError('counts must be a text')
  const counts = text.split(',').map(Number)
  if (counts.length !== length || !counts.every((count) => Number.isSafeInteger(count) && count >= 0))
    throw new TypeError(`counts must be ${length} whole numbers`)
  return counts
}
