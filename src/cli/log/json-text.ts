import { closingQuote, decodeEscapes } from './line-fields.js'

/** Returns the value of a JSON text, which may have flaws; `undefined` if it has no value. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(NOT_ASCII.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text)
  } catch {
    return parseFlawed(text)
  }
}

/** Texts are UTF-8, read as Latin-1. */
const NOT_ASCII = /[\u0080-\u00ff]/

/** An object with the fields of a JSON text. */
export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** No log nests deeper. */
const MAX_DEPTH = 64

/** What servers write where a number is missing. */
const NO_VALUES: ReadonlySet<string> = new Set([
  '',
  '-',
  'null',
  'NaN',
  'nan',
  'undefined',
  'Infinity',
  '-Infinity',
])
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i

/**
 * Reads a text that a server has made of a template, such as nginx' `log_format`: its strings may have escapes
 * that JSON lacks (`\x22`), and where a number belongs there may be a `-`, nothing, `007`, or `0.1, 0.2`.
 */
function parseFlawed(text: string): unknown {
  const reader = new FlawedJson(text)
  try {
    return reader.whole()
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

class FlawedJson {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Returns the value of the text. A comma may follow, as in an array that has a line for each object. */
  whole(): unknown {
    const value = this.#value(0, '')
    this.#take(',')
    if (this.#next() !== '') throw new SyntaxError('text after the value')
    return value
  }

  /** Returns the next character that is not blank; '' at the end. */
  #next(): string {
    while (this.#at < this.#text.length && this.#text.charCodeAt(this.#at) <= 32) this.#at++
    return this.#text.charAt(this.#at)
  }

  #take(char: string): boolean {
    if (this.#next() !== char) return false
    this.#at++
    return true
  }

  #value(depth: number, end: string): unknown {
    if (depth > MAX_DEPTH) throw new SyntaxError('too deep')
    if (this.#take('{')) return this.#object(depth)
    if (this.#take('[')) return this.#array(depth)
    return this.#next() === '"' ? this.#string() : this.#bare(end)
  }

  #object(depth: number): JsonObject {
    const entries: [string, unknown][] = []
    while (!this.#take('}')) {
      if (this.#take(',')) continue
      const name = this.#string()
      if (!this.#take(':')) throw new SyntaxError('a name without a value')
      entries.push([name, this.#value(depth + 1, '}')])
      this.#requireEnd('}')
    }
    return Object.fromEntries(entries)
  }

  #array(depth: number): unknown[] {
    const values: unknown[] = []
    while (!this.#take(']')) {
      if (this.#take(',')) continue
      values.push(this.#value(depth + 1, ']'))
      this.#requireEnd(']')
    }
    return values
  }

  #requireEnd(end: string): void {
    const next = this.#next()
    if (next !== ',' && next !== end) throw new SyntaxError('a value without an end')
  }

  #string(): string {
    if (!this.#take('"')) throw new SyntaxError('no string')
    const end = closingQuote(this.#text, this.#at)
    if (end < 0) throw new SyntaxError('a string without an end')
    const text = decodeEscapes(this.#text.slice(this.#at, end))
    this.#at = end + 1
    return text
  }

  /** Returns what is not quoted: in an object, it ends where the object does, or before the next name. */
  #bare(end: string): string | number | boolean | null {
    const start = this.#at
    this.#at = this.#endOfBare(end)
    const text = this.#text.slice(start, this.#at).trim()
    if (NO_VALUES.has(text)) return null
    if (text === 'true' || text === 'false') return text === 'true'
    return NUMBER.test(text) ? Number(text) : text
  }

  #endOfBare(end: string): number {
    for (let at = this.#at; at < this.#text.length; at++) {
      const char = this.#text.charAt(at)
      if (char === end || (char === ',' && (end !== '}' || this.#isBeforeName(at + 1)))) return at
    }
    throw new SyntaxError('a value without an end')
  }

  /** Returns whether a name, or the end of the object, follows. */
  #isBeforeName(from: number): boolean {
    let at = from
    while (this.#text.charCodeAt(at) <= 32) at++
    const char = this.#text.charAt(at)
    return char === '"' || char === '}' || char === ','
  }
}
