/** Values to look at, such as an array or a map. Unlike an iterator, `forEach` makes no object for each of them. */
interface Values<Value> {
  forEach(look: (value: Value) => void): void
}

/**
 * Returns the values of the largest size, at most `most`, the largest first. Among equals, the first ones stay. It
 * looks at each value once, and sorts only those that stay.
 */
export function largest<Value>(
  values: Values<Value>,
  most: number,
  sizeOf: (value: Value) => number,
): Value[] {
  const kept: Value[] = []
  const sizes: number[] = []
  values.forEach((value) => {
    const size = sizeOf(value)
    const isFull = kept.length >= most
    if (isFull && size <= (sizes[most - 1] ?? Number.POSITIVE_INFINITY)) return
    if (isFull) {
      kept.pop()
      sizes.pop()
    }
    const at = placeOf(sizes, size)
    kept.splice(at, 0, value)
    sizes.splice(at, 0, size)
  })
  return kept
}

/** Returns where a size belongs in descending ones: behind its equals. */
function placeOf(sizes: readonly number[], size: number): number {
  let [from, to] = [0, sizes.length]
  while (from < to) {
    const middle = (from + to) >>> 1
    if ((sizes[middle] ?? 0) < size) to = middle
    else from = middle + 1
  }
  return from
}
