/** A line longer than this is unreadable, and is not kept. */
const MAX_LINE = 4 * 1024 * 1024

/**
 * Splits chunks of bytes into lines, without their ends (`\n` or `\r\n`), as Latin-1: that decodes fastest,
 * and a chunk may end within a character. A line that is too long comes as `undefined`.
 */
export class LineSplitter {
  readonly #onLine: (line: string | undefined) => void
  #rest: string[] = []
  #restLength = 0

  constructor(onLine: (line: string | undefined) => void) {
    this.#onLine = onLine
  }

  push(chunk: Buffer): void {
    const text = chunk.toString('latin1')
    let start = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      if (this.#restLength > 0) this.#endRest(text.slice(start, end))
      else this.#emit(text, start, end)
      start = end + 1
    }
    if (start < text.length) this.#keep(text.slice(start))
  }

  /** Emits the last line if no line end follows it. */
  end(): void {
    if (this.#restLength > 0) this.#endRest('')
  }

  #keep(part: string): void {
    this.#restLength += part.length
    if (this.#restLength > MAX_LINE) this.#rest = []
    else this.#rest.push(part)
  }

  #endRest(part: string): void {
    this.#keep(part)
    const line = this.#rest.join('')
    const isWhole = this.#restLength <= MAX_LINE
    this.#rest = []
    this.#restLength = 0
    if (isWhole) this.#emit(line, 0, line.length)
    else this.#onLine(undefined)
  }

  #emit(text: string, start: number, end: number): void {
    const isCrlf = end > start && text.charCodeAt(end - 1) === 13
    const lineEnd = isCrlf ? end - 1 : end
    this.#onLine(lineEnd - start > MAX_LINE ? undefined : text.slice(start, lineEnd))
  }
}
