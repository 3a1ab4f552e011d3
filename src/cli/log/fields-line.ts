import { type FieldReader, type FoundTime, NO_TIME } from './field-reader.js'
import { isObject, type JsonObject, parseJson } from './json-text.js'
import type { FieldSources, LineReader } from './line-reader.js'
import { type LogfmtPairs, logfmtPairs } from './logfmt.js'
import type { LineKind, LoggedRequest } from './request-line.js'

/** The longest text before the fields. */
const MAX_HEAD = 300
/** A time in that text. */
const HEAD_TIME =
  /(?<!\S)\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d| [+-]\d{4})?(?!\S)/

/**
 * Reads lines that are fields, or end with them: `key=value` as Heroku's router and loggers of Go write it, or
 * a JSON object behind a time and a message, as on the consoles of Caddy and zap.
 *
 *     2026-11-28T10:00:00+00:00 heroku[router]: at=info method=GET path="/users" fwd="198.51.100.7" status=200
 *
 * What stands before the fields is read for its time only. If the fields have one, it is a prefix, and a line
 * with one is unreadable as it is.
 */
export class FieldsLineReader implements LineReader {
  readonly #fields: FieldReader
  readonly #parseTime: (text: string) => number

  constructor(fields: FieldReader, parseTime: (text: string) => number) {
    this.#fields = fields
    this.#parseTime = parseTime
  }

  read(line: string, into: LoggedRequest): LineKind {
    const found = jsonAtEnd(line) ?? logfmtPairs(line, MAX_HEAD)
    if (found === undefined) return 'unreadable'
    const head = line.slice(0, found.start)
    const kind = this.#fields.read(found.fields, into, this.#timeOf(head))
    const isPrefixed = head !== '' && this.#fields.time().from !== HEAD
    return isPrefixed ? 'unreadable' : kind
  }

  learn(): void {
    // Each line tells its fields.
  }

  sources(): FieldSources {
    return this.#fields.sources()
  }

  #timeOf(head: string): FoundTime {
    const [text] = HEAD_TIME.exec(head) ?? []
    return text === undefined ? NO_TIME : { timeMs: this.#parseTime(text), from: HEAD }
  }
}

/** How reports name the text before the fields. */
const HEAD = 'before the fields'

/** Returns the fields of a line that ends with a JSON object, and where that begins. */
function jsonAtEnd(line: string): LogfmtPairs | undefined {
  if (!line.endsWith('}')) return undefined
  const start = line.slice(0, MAX_HEAD).search(/[\t ]\{/) + 1
  const fields: unknown = start > 0 ? parseJson(line.slice(start)) : undefined
  return isObject(fields) ? { fields: fields as JsonObject, start } : undefined
}
