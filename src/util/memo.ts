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

/** Returns `make` memoized: it runs at the first call. */
/* @__NO_SIDE_EFFECTS__ */
export function once<Value extends NonNullable<unknown>>(make: () => Value): () => Value {
  let value: Value | undefined
  return () => {
    value ??= make()
    return value
  }
}
