import { fieldOf, NAMES } from './json-line.js'
import type { FieldSources } from './line-reader.js'

/** Returns the names of the fields of a JSON line that its values are from. */
export function jsonSources(fields: Readonly<Record<string, unknown>>): FieldSources {
  const nameOf = (names: readonly string[]) => names.find((name) => hasValue(fieldOf(fields, name)))
  const path = nameOf(NAMES.path)
  const request = path === undefined && typeof fields.request === 'string' ? 'request' : undefined
  return {
    address: nameOf(NAMES.address),
    forwarded: undefined,
    user: nameOf(NAMES.user),
    time: nameOf(NAMES.time),
    method: request ?? nameOf(NAMES.method),
    path: path ?? request ?? nameOf(NAMES.rewritten),
  }
}

function hasValue(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value !== '' && value !== '-')
}
