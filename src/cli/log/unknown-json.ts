import { printable } from '../output.js'
import { fieldNames } from './find-fields.js'
import { isObject, parseJson } from './json-text.js'

/** The longest JSON text whose fields are shown, and how many of them. */
const MAX_SHOWN_TEXT = 64 * 1024
const MAX_SHOWN_FIELDS = 40

/** Returns the fields of a JSON line without known names, and how to name them; '' if it has none. */
export function describeUnknownJson(line: string, example = 'client=…,time=…'): string {
  const value = line.length > MAX_SHOWN_TEXT ? undefined : parseJson(line)
  const names = isObject(value) ? fieldNames(value).slice(0, MAX_SHOWN_FIELDS) : []
  if (names.length === 0) return ''
  const shown = names.map((name) => printable(name)).join(', ')
  return `The fields of its first line are: ${shown}. Name them with --fields, such as --fields ${example}`
}
