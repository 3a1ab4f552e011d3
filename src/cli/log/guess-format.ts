import { parseAddress } from '../../keys/address.js'
import { isForwardedList } from './client-address.js'
import type { LineField } from './line-fields.js'

/** A field of a line in no known format, as a format names it. */
export interface GuessedField {
  /** The name that nginx has for it; `undefined` if it is not recognized. */
  readonly name: string | undefined
  readonly number: number
  readonly opener: LineField['opener']
}

const ENCLOSURES = { '"': ['"', '"'], '[': ['[', ']'], '(': ['(', ')'], '': ['', ''] } as const
const EXAMPLE = '[$time_local] $remote_addr "$request"'

/**
 * Returns a format for the fields of a line. Those that are not recognized get numbers. A line in which no time or no
 * address is recognized has none, so an example shows how a format is written.
 */
export function formatOf(fields: readonly GuessedField[], separator: string): string {
  const given = new Set<string>()
  const variables = fields.map(({ name, number, opener }) => {
    const isNew = name !== undefined && !given.has(name)
    if (isNew) given.add(name)
    const [open, close] = ENCLOSURES[opener]
    return { isNew, text: `${open}${isNew ? `$${name}` : `$field_${number}`}${close}` }
  })
  if (!isUsable(fields)) return EXAMPLE
  const lastKnown = variables.findLastIndex(({ isNew }) => isNew)
  const ends = separator === ' ' ? 1 : 2 // the value of a column ends where the next one begins
  const shown = variables.slice(0, lastKnown + ends).map(({ text }) => text)
  return shown.join(separator)
}

/** Returns whether a time and an address are among some fields, which every format needs. */
export function isUsable(fields: readonly GuessedField[]): boolean {
  const has = (...wanted: readonly string[]) => fields.some(({ name = '' }) => wanted.includes(name))
  return has('time_local', 'time_iso8601') && has('remote_addr', 'http_x_forwarded_for')
}

/** Returns the name of a time, by how it is written. */
export function timeVariable(text: string): string {
  return /^\d{4}/.test(text) && text.includes('T') ? 'time_iso8601' : 'time_local'
}

/** Returns the name of any other field, by its text. */
export function nameOf(text: string): string | undefined {
  if (parseAddress(text) !== undefined) return 'remote_addr'
  if (isForwardedList(text)) return 'http_x_forwarded_for'
  if (/^[A-Z]{3,20} \S/.test(text)) return 'request'
  if (/^(?:GET|HEAD|POST|PUT|DELETE|PATCH|OPTIONS|CONNECT|TRACE)$/.test(text)) return 'request_method'
  return /^(?:https?:\/)?\/\S*$/.test(text) ? 'request_uri' : undefined
}
