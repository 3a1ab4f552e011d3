import { AccessLineReader } from './access-line.js'
import type { OwnNames } from './field-names.js'
import { fieldReader } from './field-reader.js'
import { FieldsLineReader } from './fields-line.js'
import { KnownLineReader } from './known-lines.js'
import type { FieldSources, LineReader } from './line-reader.js'
import { type ToUtc, timeParser } from './log-time.js'
import { emptyRequest, type LineKind, type LoggedRequest } from './request-line.js'
import { W3cLineReader } from './w3c-line.js'

/**
 * Reads lines other than JSON in any known format. Which format a log has is decided once, by its first lines:
 * no client can write a line in another one.
 */
export class TextLineReader implements LineReader {
  readonly #readers: readonly LineReader[]
  #chosen: LineReader | undefined
  #last: LineReader

  constructor(names: OwnNames, toUtc: ToUtc) {
    const parseTime = timeParser(toUtc)
    const access = new AccessLineReader(toUtc)
    this.#readers = [
      new W3cLineReader(fieldReader(names, parseTime)),
      new KnownLineReader(parseTime),
      access,
      new FieldsLineReader(fieldReader(names, parseTime), parseTime),
    ]
    this.#last = access
  }

  read(line: string, into: LoggedRequest): LineKind {
    if (this.#chosen !== undefined) return this.#chosen.read(line, into)
    for (const reader of this.#readers) {
      const kind = reader.read(line, into)
      if (kind === 'unreadable') continue
      this.#last = reader
      return kind
    }
    return 'unreadable'
  }

  /** Chooses the format in which most lines are requests. */
  learn(lines: readonly string[]): void {
    const into = emptyRequest()
    let most = 0
    this.#chosen = undefined
    for (const reader of this.#readers) {
      reader.learn(lines)
      const requests = lines.filter((line) => reader.read(line, into) === 'request').length
      reader.learn(lines) // it has read lines that come again
      if (requests <= most) continue
      most = requests
      this.#chosen = reader
      this.#last = reader
    }
  }

  sources(line: string): FieldSources {
    return this.#last.sources(line)
  }
}
