import { isObject } from './values.js'

/** Returns whether two values of JSON are equal, whatever the order of their properties. */
export function isSameJson(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a, sortKeys) === JSON.stringify(b, sortKeys)
}

function sortKeys(_name: string, value: unknown): unknown {
  if (!isObject(value) || Array.isArray(value)) return value
  const names = Object.keys(value).sort()
  return Object.fromEntries(names.map((name) => [name, value[name]]))
}
