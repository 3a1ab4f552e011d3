/**
 * Returns `make` memoized: it runs once for each key, and its value lives as long as the key. It runs again for a
 * key without a value.
 */
/* @__NO_SIDE_EFFECTS__ */
export function weakMemo<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const values = new WeakMap<Key, Value>()
  return (key) => {
    const existing = values.get(key)
    if (existing !== undefined) return existing
    const value = make(key)
    values.set(key, value)
    return value
  }
}

/**
 * Returns `make` memoized for lists: while a list has the same members as the last one with its first member, its value
 * is the same.
 */
/* @__NO_SIDE_EFFECTS__ */
export function listMemo<Member extends object, Value>(
  make: (list: readonly [Member, ...Member[]]) => Value,
): (list: readonly [Member, ...Member[]]) => Value {
  const latest = new WeakMap<Member, { readonly list: readonly Member[]; readonly value: Value }>()
  return (list) => {
    const known = latest.get(list[0])
    if (known?.list.length === list.length && known.list.every((member, i) => member === list[i]))
      return known.value
    const value = make(list)
    latest.set(list[0], { list, value })
    return value
  }
}

/** Returns `make` memoized: it runs at the first call. */
/* @__NO_SIDE_EFFECTS__ */
export function once<Value extends NonNullable<unknown>>(make: () => Value): () => Value {
  let value: Value | undefined
  return () => {
    value ??= make()
    return value
  }
}
