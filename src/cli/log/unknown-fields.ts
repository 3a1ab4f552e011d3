import { printable } from '../output.js'
import { fieldNames } from './find-fields.js'
import { isObject, type JsonObject, parseJson } from './json-text.js'
import { logfmtPairs } from './logfmt.js'

/** The longest text whose fields are shown, and how many of them. */
const MAX_SHOWN_TEXT = 64 * 1024
const MAX_SHOWN_FIELDS = 40
/** A text with fewer pairs is not logfmt: an address in the web may have some. */
const MIN_PAIRS = 3

/** Returns the fields of a line of JSON or logfmt without known names, and how to name them; '' if it has none. */
export function describeUnknownFields(line: string, example = 'client=…,time=…'): string {
  const fields = line.length > MAX_SHOWN_TEXT ? undefined : (jsonFields(line) ?? logfmtFields(line))
  const names = fields === undefined ? [] : fieldNames(fields).slice(0, MAX_SHOWN_FIELDS)
  if (names.length === 0) return ''
  const shown = names.map((name) => printable(name)).join(', ')
  return `The fields of its first line are: ${shown}. Name them with --fields, such as --fields ${example}`
}

function jsonFields(line: string): JsonObject | undefined {
  const value = line.startsWith('{') ? parseJson(line) : undefined
  return isObject(value) ? value : undefined
}

function logfmtFields(line: string): JsonObject | undefined {
  const fields = logfmtPairs(line, line.length)?.fields ?? {}
  return Object.keys(fields).length < MIN_PAIRS ? undefined : fields
}
