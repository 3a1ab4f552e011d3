/** Returns counts as a short text: joined by commas, without zeros. */
export function countText(counts: readonly number[]): string {
  return counts.some((count) => count > 0) ? counts.map((count) => count || '').join() : ''
}

const noneOf = new Map<number, readonly number[]>()

/** Returns as many zeros: the same ones to all who need them, since most limiters have nothing to count. */
function noCounts(length: number): readonly number[] {
  const known = noneOf.get(length) ?? Array<number>(length).fill(0)
  noneOf.set(length, known)
  return known
}

/** Returns the counts of a text. Throws for more or fewer than `length`. */
export function countsIn(text: unknown, length: number): readonly number[] {
  if (text === '') return noCounts(length)
  if (typeof text !== 'string' || text.length > 20 * length) throw new TypeError('counts must be a text')
  const counts = text.split(',').map(Number)
  if (counts.length !== length || !counts.every((count) => Number.isSafeInteger(count) && count >= 0))
    throw new TypeError(`counts must be ${length} whole numbers`)
  return counts
}
