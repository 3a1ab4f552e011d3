/**
 * Returns a function that returns the oldest key of a map, and the next one at each call, whether the one
 * before was deleted or not; `undefined` if the map is empty. It keeps its iterator, since a new one would
 * pass all the deleted keys again.
 */
export function oldestOf(map: ReadonlyMap<string, unknown>): () => string | undefined {
  let keys = map.keys()
  return () => {
    const { value } = keys.next()
    if (value !== undefined) return value
    keys = map.keys()
    return keys.next().value
  }
}
