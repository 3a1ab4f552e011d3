import { JsonRecords } from './json-records.js'
import { LineSplitter } from './line-splitter.js'

/** How much of a log is read, at most, to find out how its records are separated. */
const MAX_HEAD = 256 * 1024

/**
 * Splits a log into the texts of its requests: lines, or the records of a JSON document, as the first line
 * shows. A log of lines stays one: a damaged line harms no other.
 */
export class LogSplitter {
  readonly #onText: (text: string | undefined) => void
  #head: Buffer = Buffer.alloc(0)
  #splitter: LineSplitter | JsonRecords | undefined

  constructor(onText: (text: string | undefined) => void) {
    this.#onText = onText
  }

  push(chunk: Buffer): void {
    if (this.#splitter !== undefined) {
      this.#splitter.push(chunk)
      return
    }
    this.#head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk])
    this.#choose(this.#head.length >= MAX_HEAD)
  }

  end(): void {
    if (this.#splitter === undefined) this.#choose(true)
    this.#splitter?.end()
  }

  /** Chooses the splitter, if the head is enough for that or must be. */
  #choose(isWhole: boolean): void {
    const isDocument = isJsonDocument(this.#head.toString('latin1').trimStart(), isWhole)
    if (isDocument === undefined) return
    this.#splitter = isDocument ? new JsonRecords(this.#onText) : new LineSplitter(this.#onText)
    this.#splitter.push(this.#head)
    this.#head = Buffer.alloc(0)
  }
}

/**
 * Returns whether a log is a JSON document, and not one object in each line; `undefined` if its head is too
 * short to tell.
 */
function isJsonDocument(head: string, isWhole: boolean): boolean | undefined {
  if (head.startsWith('[')) {
    const next = head.slice(1).trimStart()
    return next === '' ? (isWhole ? false : undefined) : next.startsWith('{') || next.startsWith('[')
  }
  if (!head.startsWith('{')) return head === '' && !isWhole ? undefined : false
  const lineEnd = head.indexOf('\n')
  if (lineEnd < 0 && !isWhole) return undefined
  const line = lineEnd < 0 ? head : head.slice(0, lineEnd)
  const records: (string | undefined)[] = []
  const scanner = new JsonRecords((record) => records.push(record))
  scanner.push(Buffer.from(line, 'latin1'))
  const [record = ''] = records
  if (records.length === 0) return !scanner.isInString
  return records.length > 1 || !line.startsWith(record)
}
