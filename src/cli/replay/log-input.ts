import { LinePrefix } from '../log/line-prefix.js'
import type { LineReader } from '../log/line-reader.js'
import type { LocalClock } from '../log/local-clock.js'
import { LogSplitter } from '../log/log-splitter.js'
import { prefixScore } from '../log/prefixes.js'
import { emptyRequest, type LineKind, type LoggedRequest } from '../log/request-line.js'
import type { FileCheck } from './file-check.js'
import type { LineSink } from './line-sink.js'
import { MAX_LATE_MS } from './sort-window.js'

/** A request this much after the one before is held until the next one confirms its time. */
const MAX_JUMP_MS = 86_400_000
/** The code of a space. Tabs are below it. */
const SPACE = 32

/** A request whose time is not confirmed yet. */
interface HeldRequest {
  readonly request: LoggedRequest
  readonly line: number
}

/** What reads the lines of a log. The sample reader tries lines before they count: each remembers what it has read. */
export interface LogReaders {
  readonly reader: LineReader
  readonly sampleReader: LineReader
  /** What reads the times of `reader` that name no zone. */
  readonly clock: LocalClock
}

/** A log that is being read, side by side with others. */
export class LogInput {
  readonly file: FileCheck
  readonly #chunks: AsyncGenerator<Buffer>
  readonly #reader: LineReader
  readonly #sampleReader: LineReader
  readonly #clock: LocalClock
  readonly #sink: LineSink
  readonly #prefix: LinePrefix
  readonly #splitter: LogSplitter
  readonly #request = emptyRequest()
  #held: HeldRequest | undefined
  #hasRequest = false

  constructor(
    file: FileCheck,
    chunks: AsyncGenerator<Buffer>,
    { reader, sampleReader, clock }: LogReaders,
    sink: LineSink,
  ) {
    this.file = file
    this.#chunks = chunks
    this.#reader = reader
    this.#sampleReader = sampleReader
    this.#clock = clock
    this.#sink = sink
    this.#prefix = new LinePrefix(
      (lines) => this.#score(lines.map(withoutIndent)),
      (lines) => this.#learn(lines.map(withoutIndent)),
      (text, isTooLong) => this.#addLine(text, isTooLong),
    )
    this.#splitter = new LogSplitter((text) => this.#prefix.push(text))
  }

  /** Reads some more lines. Returns whether there may be others. */
  async readChunk(): Promise<boolean> {
    const { value, done } = await this.#chunks.next()
    if (!done) {
      this.#splitter.push(value)
      return true
    }
    this.#splitter.end()
    this.#prefix.end()
    if (this.#held === undefined) this.file.end()
    return false
  }

  /**
   * Accepts the last request if it is still held, unless another log goes on after this one, but not as far:
   * `newestMs` is the newest time of all logs.
   */
  end(newestMs: number): void {
    const held = this.#held
    if (held === undefined) return
    this.#held = undefined
    const isContradicted = this.#isStarted && newestMs > this.file.newestMs && held.request.timeMs > newestMs
    if (isContradicted) this.#sink.onUnreadable(this.file, held.line, 'unconfirmedTime')
    else this.#accept(held.request, held.line)
    this.file.end()
  }

  /** Stops reading. */
  async close(): Promise<void> {
    await this.#chunks.return(undefined)
  }

  /** Returns how likely it is that the log begins with these lines. */
  #score(lines: readonly string[]): number {
    this.#sampleReader.learn(lines)
    const request = this.#request
    return lines.reduce(
      (sum, line) => sum + prefixScore(line, this.#sampleReader.read(line, request), request),
      0,
    )
  }

  /** Learns what the lines have in common, by the first of them. */
  #learn(lines: readonly string[]): void {
    for (const reader of [this.#reader, this.#sampleReader]) reader.learn(lines)
    const requests = lines.flatMap((line) => {
      if (this.#sampleReader.read(line, this.#request) !== 'request') return []
      const { address, forwarded } = this.#request
      return [{ address, forwarded }]
    })
    this.#sink.onSample(requests, this.file)
  }

  #addLine(line: string | undefined, isTooLong: boolean): void {
    this.#sink.onLine()
    this.file.lines++
    const text = line === undefined ? undefined : withoutIndent(line)
    const kind = this.#read(text)
    if (text === undefined || kind === 'unreadable') {
      this.#sink.onUnreadable(this.file, this.file.lines, isTooLong ? 'tooLong' : 'unknownFormat')
      this.file.countUnreadable(text)
    } else if (text === '') {
      this.file.blank++
      this.#sink.onOther('blank')
    } else {
      this.file.countReadable(text, kind === 'request')
      if (kind === 'other') this.#sink.onOther('noRequest')
      else this.#addRequest(text)
    }
  }

  #read(text: string | undefined): LineKind {
    if (text === undefined) return 'unreadable'
    this.#clock.begin()
    return text === '' ? 'other' : this.#reader.read(text, this.#request)
  }

  /**
   * Accepts a request, or holds it: a time far ahead, and the first of all, count once the next request is not
   * before them, so that one wrong time does not make all others late.
   */
  #addRequest(text: string): void {
    const request = this.#request
    request.local = this.#clock.shownAt(request.timeMs)
    if (!this.#hasRequest) this.#sink.onFirst(request, this.#reader.sources(text), this.file)
    this.#hasRequest = true
    const held = this.#held
    this.#held = undefined
    if (held !== undefined) {
      const maxBackMs = this.#isStarted ? MAX_LATE_MS : MAX_JUMP_MS
      if (request.timeMs >= held.request.timeMs - maxBackMs) this.#accept(held.request, held.line)
      else this.#sink.onUnreadable(this.file, held.line, 'unconfirmedTime')
    }
    const isSecond = held !== undefined && !this.#isStarted // what one wrong line came before
    const line = this.file.lines
    if (isSecond || request.timeMs - this.file.newestMs <= MAX_JUMP_MS) this.#accept(request, line)
    else this.#held = { request: { ...request }, line }
  }

  get #isStarted(): boolean {
    return this.file.newestMs > Number.NEGATIVE_INFINITY
  }

  #accept(request: LoggedRequest, line: number): void {
    this.#clock.add(request.timeMs)
    this.#sink.onRequest(request, this.file.countRequest(request, line), this.file, line)
  }
}

/** JSON lines may be indented. */
function withoutIndent(line: string): string {
  return line.charCodeAt(0) <= SPACE ? line.trimStart() : line
}
