import type { FieldReader } from './field-reader.js'
import type { JsonObject } from './json-text.js'
import type { FieldSources, LineReader } from './line-reader.js'
import type { LineKind, LoggedRequest } from './request-line.js'

const HASH = 35
const FIELDS = '#Fields:'
/** Other lines that describe a log. */
const ABOUT = /^#(?:Version|Software|Date|Start-Date|End-Date|Remark):/

/**
 * Reads the extended log format of the W3C, which CloudFront and IIS write: a line `#Fields:` names the fields
 * of those after it, which tabs or spaces separate.
 */
export class W3cLineReader implements LineReader {
  readonly #fields: FieldReader
  #names: readonly string[] | undefined

  constructor(fields: FieldReader) {
    this.#fields = fields
  }

  read(line: string, into: LoggedRequest): LineKind {
    if (line.charCodeAt(0) === HASH) return this.#readHeader(line)
    const fields = this.#fieldsOf(line)
    return fields === undefined ? 'unreadable' : this.#fields.read(fields, into)
  }

  learn(): void {
    this.#names = undefined
  }

  sources(): FieldSources {
    return this.#fields.sources()
  }

  #readHeader(line: string): LineKind {
    if (line.startsWith(FIELDS)) this.#names = line.slice(FIELDS.length).trim().split(/\s+/)
    return this.#names !== undefined || ABOUT.test(line) ? 'other' : 'unreadable'
  }

  #fieldsOf(line: string): JsonObject | undefined {
    const names = this.#names
    if (names === undefined) return undefined
    const values = line.split(line.includes('\t') ? '\t' : ' ')
    if (values.length !== names.length) return undefined
    return Object.fromEntries(names.map((name, i) => [name, values[i]]))
  }
}
