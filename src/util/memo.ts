/** Returns `make` memoized: it runs once for each key, and its value lives as long as the key. */
export function weakMemo<Key extends object, Value extends NonNullable<unknown>>(
  make: (key: Key) => Value,
): (key: Key) => Value {
  const known = new WeakMap<Key, Value>()
  return (key) => {
    const found = known.get(key)
    if (found !== undefined) return found
    const value = make(key)
    known.set(key, value)
    return value
  }
}

/** Returns `make` memoized: it runs at the first call. */
export function once<Value extends NonNullable<unknown>>(make: () => Value): () => Value {
  let value: Value | undefined
  return () => {
    value ??= make()
    return value
  }
}
