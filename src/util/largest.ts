/** How many extra values are kept before the smallest are dropped, so that sorting is rare. */
const SLACK = 64

/**
 * Returns the values of the largest size, at most `most`, the largest first. Among equals, the first ones stay. It
 * looks at each value once, and sorts only those that may stay.
 */
export function largest<Value>(
  values: Iterable<Value>,
  most: number,
  sizeOf: (value: Value) => number,
): Value[] {
  let kept: Value[] = []
  let least = Number.NEGATIVE_INFINITY
  const trim = () => {
    kept = kept.sort((a, b) => sizeOf(b) - sizeOf(a)).slice(0, most)
  }
  for (const value of values) {
    if (sizeOf(value) <= least) continue
    kept.push(value)
    if (kept.length < 2 * most + SLACK) continue
    trim()
    const last = kept.at(-1)
    least = last === undefined ? Number.POSITIVE_INFINITY : sizeOf(last)
  }
  trim()
  return kept
}
