import { parseAddress } from '../../keys/address.js'
import { printable } from '../output.js'
import { beginsAsTime } from './access-time.js'
import { isForwardedList } from './client-address.js'
import { fieldsOf, type LineField, textOfField } from './line-fields.js'
import { timeParser } from './log-time.js'
import { describeOtherLog } from './other-logs.js'

/** How many fields are shown, and how many are named. */
const SHOWN = 8
const NAMED = 24

/**
 * Returns the first fields of a line in no known format, and how to name them, as messages say it; '' for one
 * that is blank.
 */
export function describeUnknownLine(line: string): string {
  const fields = fieldsOf(line)
  if (fields.length === 0) return ''
  const other = describeOtherLog(line)
  if (other !== '') return other
  const shown = fields
    .slice(0, SHOWN)
    .map((field, i) => `${i + 1} ${printable(line.slice(field.start, field.end))}`)
  const more = fields.length > SHOWN ? ', …' : ''
  const format = guessFormat(line, fields.slice(0, NAMED))
  return `The fields of its first line are: ${shown.join(', ')}${more}. Name them with --format, such as --format '${format}'`
}

/**
 * Returns a format for a line, with the names of nginx. Fields that are not recognized get numbers. A line in
 * which no time or no address is recognized has none, so an example shows how a format is written.
 */
function guessFormat(line: string, fields: readonly LineField[]): string {
  const given = new Set<string>()
  const parseTime = timeParser()
  const names: string[] = []
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] as LineField
    const [name, used] = timeName(line, fields, i, parseTime) ?? [nameOf(textOfField(line, field)), 1]
    const isNew = name !== undefined && !given.has(name)
    given.add(name ?? '')
    const variable = isNew ? `$${name}` : `$field_${i + 1}`
    const [open, close] = ENCLOSURES[field.opener]
    names.push(`${open}${variable}${close}`)
    i += used - 1
  }
  const has = (...wanted: readonly string[]) => wanted.some((name) => given.has(name))
  if (!has('time_local', 'time_iso8601') || !has('remote_addr', 'http_x_forwarded_for')) return EXAMPLE
  const lastKnown = names.findLastIndex((name) => !name.includes('$field_'))
  return names.slice(0, lastKnown + 1).join(' ')
}

const EXAMPLE = '[$time_local] $remote_addr "$request"'
const ENCLOSURES = { '"': ['"', '"'], '[': ['[', ']'], '(': ['(', ')'], '': ['', ''] } as const

/** Returns the name of a time that begins with a field, and how many fields it has. */
function timeName(
  line: string,
  fields: readonly LineField[],
  index: number,
  parseTime: (text: string) => number,
): readonly [name: string, used: number] | undefined {
  const first = fields[index] as LineField
  const text = textOfField(line, first)
  if (!beginsAsTime(text)) return undefined
  const next = fields[index + 1]
  const both = next === undefined ? '' : line.slice(first.start, next.end)
  if (first.opener === '' && !Number.isNaN(parseTime(both))) return ['time_local', 2]
  if (Number.isNaN(parseTime(text))) return undefined
  return [/^\d{4}/.test(text) && text.includes('T') ? 'time_iso8601' : 'time_local', 1]
}

function nameOf(text: string): string | undefined {
  if (parseAddress(text) !== undefined) return 'remote_addr'
  if (isForwardedList(text)) return 'http_x_forwarded_for'
  if (/^[A-Z]{3,20} \S/.test(text)) return 'request'
  if (/^(?:GET|HEAD|POST|PUT|DELETE|PATCH|OPTIONS|CONNECT|TRACE)$/.test(text)) return 'request_method'
  return /^(?:https?:\/)?\/\S*$/.test(text) ? 'request_uri' : undefined
}
