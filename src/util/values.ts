/** The properties of an object, before they are checked. */
export type Fields = Readonly<Record<string, unknown>>

/** Returns whether a value is an object but not a function. Its properties may be read and checked. */
export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

/** Returns whether a value is a function. It may take and return anything. */
export function isFunction(value: unknown): value is (...args: unknown[]) => unknown {
  return typeof value === 'function'
}

const NONE: Fields = {}

/** Returns the properties of an object or a function; none for any other value. */
export function fieldsOf(value: unknown): Fields {
  return hasFields(value) ? value : NONE
}

function hasFields(value: unknown): value is Fields {
  return isObject(value) || typeof value === 'function'
}

/** Returns whether a value has these methods. */
export function hasMethods(value: unknown, ...names: readonly string[]): boolean {
  const fields = fieldsOf(value)
  return names.every((name) => typeof fields[name] === 'function')
}
