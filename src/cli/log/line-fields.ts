/** A field of a line: from where to where, with what encloses it, and its opening character if it has one. */
export interface LineField {
  readonly start: number
  readonly end: number
  readonly opener: '"' | '[' | '(' | ''
}

/** The most fields of a line that are looked at. */
const MAX_FIELDS = 64
const SPACE = 32
const QUOTE = 34
const BACKSLASH = 92

/**
 * Splits a part of a line into fields at spaces. Text in quotes, brackets or parentheses is one field, and so
 * is a list such as `198.51.100.7, 10.0.0.1`.
 */
export function fieldsOf(line: string, start = 0, end = line.length): LineField[] {
  const fields: LineField[] = []
  for (let at = start; at < end && fields.length < MAX_FIELDS; ) {
    if (line.charCodeAt(at) === SPACE) at++
    else {
      const fieldEnd = Math.min(end, endOfField(line, at))
      fields.push({ start: at, end: fieldEnd, opener: openerOf(line, at, fieldEnd) })
      at = fieldEnd
    }
  }
  return fields
}

/** Returns where the field that begins at `start` ends, its closing character included. */
export function endOfField(line: string, start: number): number {
  const closer = CLOSERS[line.charAt(start)]
  if (closer !== undefined) {
    const end = closer === '"' ? closingQuote(line, start + 1) : line.indexOf(closer, start + 1)
    if (end >= 0) return end + 1
  }
  let end = line.indexOf(' ', start)
  while (end > start && line.charAt(end - 1) === ',') end = line.indexOf(' ', end + 1)
  return end < 0 ? line.length : end
}

const CLOSERS: Readonly<Record<string, string>> = { '"': '"', '[': ']', '(': ')' }

function openerOf(line: string, start: number, end: number): LineField['opener'] {
  const opener = line.charAt(start)
  if (opener !== '"' && opener !== '[' && opener !== '(') return ''
  return end - start >= 2 && line.charAt(end - 1) === CLOSERS[opener] ? opener : ''
}

/** Returns the text of a field, without what encloses it. */
export function textOfField(line: string, { start, end, opener }: LineField): string {
  return opener === '' ? line.slice(start, end) : line.slice(start + 1, end - 1)
}

/**
 * Returns where the quoted text that begins at `start` ends; -1 if it does not. A backslash escapes a
 * quote.
 */
export function closingQuote(line: string, start: number): number {
  for (let at = line.indexOf('"', start); at >= 0; at = line.indexOf('"', at + 1)) {
    let backslashes = 0
    while (at - backslashes > start && line.charCodeAt(at - backslashes - 1) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at
  }
  return -1
}

/** Returns whether a line has a quote at a place. */
export function isQuoteAt(line: string, at: number): boolean {
  return line.charCodeAt(at) === QUOTE
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', v: '\v', f: '\f' }

/** Returns a text as it was before nginx (`\x22`) or Apache (`\"`) escaped it, in UTF-8. */
export function unescaped(text: string): string {
  if (!NEEDS_DECODING.test(text)) return text
  const bytes = text.replace(/\\(?:x([\da-f]{2})|(.))/gis, (_, hex: string | undefined, char: string) =>
    hex === undefined ? (ESCAPES[char] ?? char) : String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

/** A backslash, or a byte of UTF-8: lines are read as Latin-1. */
const NEEDS_DECODING = /[\\\u0080-\u00ff]/

/** Returns the user in a field; `undefined` if servers wrote that there is none. */
export function userOf(text: string): string | undefined {
  const bare = text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text
  return bare === '' || bare === '-' || NO_USER.test(bare) ? undefined : unescaped(bare)
}

/** Where no user is signed in, dashes stand in this and in other fields. */
const NO_USER = /^- /
