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
      const enclosedEnd = endOfEnclosed(line, at)
      const isEnclosed = enclosedEnd > 0 && enclosedEnd <= end
      const fieldEnd = isEnclosed ? enclosedEnd : Math.min(end, endOfBare(line, at))
      fields.push({ start: at, end: fieldEnd, opener: isEnclosed ? (line.charAt(at) as '"') : '' })
      at = fieldEnd
    }
  }
  return fields
}

/** Returns where the field that begins at `start` ends, its closing character included. */
export function endOfField(line: string, start: number): number {
  return endOfEnclosed(line, start) || endOfBare(line, start)
}

/** Returns where a field without quotes or brackets ends. A comma joins it with the next. */
function endOfBare(line: string, start: number): number {
  let end = line.indexOf(' ', start)
  while (end > start && line.charAt(end - 1) === ',' && !OPENERS.includes(line.charAt(end + 1)))
    end = line.indexOf(' ', end + 1)
  return end < 0 ? line.length : end
}

/**
 * Returns where a field in quotes, brackets or parentheses ends; 0 if there is none. Brackets around a quote,
 * or around others, are those that a client has put into its name. Those of `[2001:db8::1]:443` are a part.
 */
function endOfEnclosed(line: string, start: number): number {
  const opener = line.charAt(start)
  if (opener === '"') return closingQuote(line, start + 1) + 1
  if (opener !== '[' && opener !== '(') return 0
  const end = line.indexOf(opener === '[' ? ']' : ')', start + 1)
  const quote = line.indexOf('"', start + 1)
  const hasQuote = quote >= 0 && quote < end && closingQuote(line, start + 1) < end
  const hasOther = opener === '[' && line.lastIndexOf('[', end) > start
  const isPart = line.charAt(end + 1) === ':'
  return hasQuote || hasOther || isPart ? 0 : end + 1
}

const OPENERS = '"[('

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
/** `\x22` of nginx, a character or a surrogate pair of JSON, or any other character. */
const ESCAPE = /\\(?:x([\da-f]{2})|(u[\da-f]{4}(?:(?<=ud[89ab][\da-f]{2})\\ud[c-f][\da-f]{2})?)|(.))/gis

/** Returns a text as it was before nginx (`\x22`), Apache (`\"`) or JSON (`\u0022`) escaped it, in UTF-8. */
export function decodeEscapes(text: string): string {
  if (!NEEDS_DECODING.test(text)) return text
  const bytes = text.replace(ESCAPE, (_, hex?: string, unicode?: string, char = '') => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
    return unicode === undefined
      ? (ESCAPES[char] ?? char)
      : asLatin1(JSON.parse(`"\\${unicode.toLowerCase()}"`))
  })
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

/** Returns the bytes of a text in UTF-8, read as Latin-1. */
export function asLatin1(text: string): string {
  return NOT_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text
}

const NOT_ASCII = /[^\0-\x7f]/
/** A backslash, or a byte of UTF-8: lines are read as Latin-1. */
const NEEDS_DECODING = /[\\\u0080-\u00ff]/

/** Returns the user in a field; `undefined` if servers wrote that there is none. */
export function userOf(text: string): string | undefined {
  const bare = text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text
  return bare === '' || bare === '-' || NO_USER.test(bare) ? undefined : decodeEscapes(bare)
}

/** Where no user is signed in, dashes stand in this and in other fields. */
const NO_USER = /^- /
