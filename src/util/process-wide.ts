/**
 * Returns state that all copies of this package in a process share, such as one imported and one required:
 * what `make` returned for the first of them.
 */
/* @__NO_SIDE_EFFECTS__ */
export function processWide<Value extends NonNullable<unknown>>(name: string, make: () => Value): Value {
  const key = Symbol.for(`headgate.${name}`)
  const shared = globalThis as { [key: symbol]: unknown }
  shared[key] ??= make()
  return shared[key] as Value
}
