/**
 * Returns a function that drops the oldest entry of a map, and returns false if there is none. It keeps its
 * iterator, since a new one would pass all the deleted entries again.
 */
export function dropperOf(map: Map<string, unknown>): () => boolean {
  let keys = map.keys()
  return () => {
    if (map.size === 0) return false
    let { value } = keys.next()
    if (value === undefined) {
      keys = map.keys()
      value = keys.next().value
    }
    return map.delete(value as string)
  }
}
