import type { JsonObject } from './json-text.js'
import { closingQuote, decodeEscapes } from './line-fields.js'

/** The fields at the end of a line, and where they begin. */
export interface LogfmtPairs {
  readonly fields: JsonObject
  readonly start: number
}

/** Where the first field begins. */
const FIRST_KEY = /(?:^|\s)(?=[a-z_@][\w.@/-]*=)/i
const KEY = /[a-z_@][\w.@/-]*=/iy
const [SPACE, QUOTE] = [32, 34]

/**
 * Returns the fields of a line in logfmt, `key=value` with spaces between them, and where the first begins:
 * after at most `maxHead` characters without a quote. Words without a value are left out. Of several fields
 * with one name the first counts, since clients choose the values at the end more often.
 */
export function logfmtPairs(line: string, maxHead: number): LogfmtPairs | undefined {
  const head = line.slice(0, maxHead)
  const found = FIRST_KEY.exec(head)
  if (found === null) return undefined
  const start = found.index + found[0].length
  if (head.slice(0, start).includes('"')) return undefined
  const pairs = new Map<string, string>()
  for (let at = start; at < line.length; ) {
    KEY.lastIndex = at
    const key = KEY.test(line) ? line.slice(at, KEY.lastIndex - 1) : undefined
    if (key !== undefined) at = KEY.lastIndex
    const end = line.charCodeAt(at) === QUOTE ? endOfQuoted(line, at + 1) + 1 : endOfBare(line, at)
    if (end === 0) return undefined
    if (key !== undefined && !pairs.has(key)) pairs.set(key, textOfValue(line.slice(at, end)))
    at = end
    while (line.charCodeAt(at) <= SPACE) at++
  }
  return { fields: Object.fromEntries(pairs), start }
}

/**
 * Returns where a quoted value ends; -1 if it does not. A blank, or the end, follows. Loggers escape quotes, but
 * Heroku's router does not: if other text follows the first quote that is not escaped, no quote is.
 */
function endOfQuoted(line: string, start: number): number {
  const end = closingQuote(line, start)
  if (end < 0 || isEndAt(line, end + 1)) return end
  for (let at = line.indexOf('"', start); at >= 0; at = line.indexOf('"', at + 1))
    if (isEndAt(line, at + 1)) return at
  return -1
}

function isEndAt(line: string, at: number): boolean {
  return at >= line.length || line.charCodeAt(at) <= SPACE
}

function endOfBare(line: string, start: number): number {
  let end = start
  while (!isEndAt(line, end)) end++
  return end
}

function textOfValue(text: string): string {
  return decodeEscapes(text.charCodeAt(0) === QUOTE ? text.slice(1, -1) : text)
}
