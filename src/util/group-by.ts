/** The members of a group: at least one. */
export type Group<T> = [T, ...T[]]

/** Groups values by `keyOf`; groups and their members keep their order. */
export function groupBy<T, K>(values: Iterable<T>, keyOf: (value: T) => K): Map<K, Group<T>> {
  const groups = new Map<K, Group<T>>()
  for (const value of values) {
    const key = keyOf(value)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [value])
    else group.push(value)
  }
  return groups
}

/** Returns the index of a value among distinct ones; one that is not among them is added. */
export function indexIn<Value>(indexes: Map<Value, number>, value: Value): number {
  const existing = indexes.get(value)
  if (existing !== undefined) return existing
  indexes.set(value, indexes.size)
  return indexes.size - 1
}
