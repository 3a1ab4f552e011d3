import { InputError } from '../failures.js'
import { accessLineReader } from '../log/access-line.js'
import { readJsonLine } from '../log/json-line.js'
import { LineSplitter } from '../log/line-splitter.js'
import { nameOf, readLog } from '../log/read-log.js'
import { emptyRequest, type LineKind, type LoggedRequest } from '../log/request-line.js'
import type { ReplaySettings } from './arguments.js'
import { ClientTable } from './client-table.js'
import { Clock } from './clock.js'
import { Histogram } from './histogram.js'
import { loggedIdentity } from './identity.js'
import { LimitReplay } from './limit-replay.js'
import { WindowCounts } from './suggestions.js'

/** A line of an input; the first is 1. */
export interface Place {
  readonly file: string
  readonly line: number
}

/** A file is no log if none of its first lines can be read: so many of them. */
const LINES_TRIED = 1000
/** A file that begins this much earlier than those before it end is in the wrong place. */
const MAX_STEP_BACK_MS = 60_000
/** Single requests may be logged late, so the newest of a file's first requests counts: of so many. */
const REQUESTS_TRIED = 100
/** A request this much after the one before is held until the next one confirms its time. */
const MAX_JUMP_MS = 86_400_000
/** A file is out of order if more of its requests than this, and than this share, are late. */
const MAX_LATE = 10
const MAX_LATE_SHARE = 0.01
/** The code of a space. Tabs are below it. */
const SPACE = 32
const BYTE_ORDER_MARK = 'ï»¿' // of UTF-8, read as Latin-1

/** A request whose time is not confirmed yet. */
interface Held {
  readonly request: LoggedRequest
  readonly file: FileCheck
  readonly line: number
}

/**
 * Decides the requests of logs, line by line. The time of a line is the clock, which never goes back, as the
 * memory store's own: a request that was logged late is decided at the newest time before it.
 *
 * Memory grows with the number of clients, not with that of lines.
 */
export class Replay {
  lines = 0
  unreadable = 0
  firstUnreadable: Place | undefined
  /** Lines that are no request, or that `--only` leaves out. */
  skipped = 0
  requests = 0
  /** Requests whose address is none, where it is a part of the key. They share one client. */
  unknownAddresses = 0
  outOfOrder = 0
  mostMsBack = 0
  firstMs = Number.NaN
  /** When the last request was decided. */
  lastMs = Number.NaN
  readonly clock = new Clock()
  readonly clients = new ClientTable()
  readonly histogram: Histogram
  readonly limits: readonly LimitReplay[]
  readonly windows: WindowCounts | undefined
  readonly #settings: ReplaySettings
  readonly #identityOf: (request: LoggedRequest) => string
  readonly #needsFields: boolean
  readonly #readAccessLine = accessLineReader()
  readonly #request = emptyRequest()
  #held: Held | undefined

  constructor(settings: ReplaySettings) {
    this.#settings = settings
    this.#identityOf = loggedIdentity(settings.keys, () => this.unknownAddresses++)
    this.#needsFields = settings.keys.some((part) => typeof part === 'object')
    this.limits = settings.policies.map((policy) => new LimitReplay(policy))
    this.histogram = new Histogram(this.limits.length)
    this.windows = settings.suggest && new WindowCounts(settings.suggest.windowMs, settings.suggest.startsAt)
  }

  /** Replays one input, after those before it. `onRead` gets how many bytes were read of it. */
  async readFile(path: string, onRead: (bytes: number) => void): Promise<void> {
    const file = new FileCheck(nameOf(path), this.clock)
    const splitter = new LineSplitter((line) => this.#addLine(line, file))
    await readLog(path, (chunk) => splitter.push(chunk), onRead)
    splitter.end()
    if (!this.clock.isStarted) this.end() // the only request so far: the next log must not be older
    file.end()
  }

  #addLine(line: string | undefined, file: FileCheck): void {
    this.lines++
    file.lines++
    const marked = file.lines === 1 && line?.startsWith(BYTE_ORDER_MARK) ? line.slice(3) : line
    const isIndented = marked !== undefined && marked.charCodeAt(0) <= SPACE
    const text = isIndented ? marked.trimStart() : marked
    const kind = text === '' ? 'other' : this.#read(text)
    if (kind === 'unreadable') {
      this.#countUnreadable({ file, line: file.lines })
      file.countUnreadable()
      return
    }
    if (text === '') file.blank++
    else file.readable++
    if (kind === 'other') this.skipped++
    else this.addRequest(this.#request, file)
  }

  #read(text: string | undefined): LineKind {
    if (text === undefined) return 'unreadable'
    if (text.charCodeAt(0) === 123) return readJsonLine(text, this.#request)
    return this.#readAccessLine(text, this.#request)
  }

  /**
   * Returns whether every limit allows a request; `undefined` where none applies, or where it is held: a time far
   * ahead, and the first of all, count once the next request is not before them, so that one wrong time does not
   * stop the clock.
   */
  addRequest(request: LoggedRequest, file: FileCheck): boolean | undefined {
    const held = this.#held
    this.#held = undefined
    if (held !== undefined) {
      const maxBackMs = this.clock.isStarted ? MAX_STEP_BACK_MS : MAX_JUMP_MS
      if (request.timeMs >= held.request.timeMs - maxBackMs) this.#decide(held)
      else this.#countUnreadable(held)
    }
    const isSecond = held !== undefined && !this.clock.isStarted // what one wrong line came before
    if (isSecond || request.timeMs - this.clock.newestMs <= MAX_JUMP_MS)
      return this.#decide({ request, file, line: file.lines })
    this.#held = { request: { ...request }, file, line: file.lines }
    return undefined
  }

  /** Decides a request that is still held, as the last one of all. */
  end(): void {
    if (this.#held !== undefined) this.#decide(this.#held)
    this.#held = undefined
  }

  #countUnreadable({ file, line }: Pick<Held, 'file' | 'line'>): void {
    this.unreadable++
    this.firstUnreadable ??= { file: file.name, line }
  }

  #decide({ request, file, line }: Held): boolean | undefined {
    this.#moveClock(request.timeMs, file, line)
    if (!this.#settings.isWanted(request)) {
      this.skipped++
      return undefined
    }
    if (this.#needsFields && request.fields === undefined) {
      throw new InputError(`${file.name}, line ${line}: --key field:NAME requires JSON lines`)
    }
    const nowMs = this.clock.newestMs
    if (this.requests === 0) this.firstMs = nowMs
    this.lastMs = nowMs
    this.requests++
    const id = this.clients.idOf(this.#identityOf(request))
    this.windows?.add(id, nowMs)
    this.histogram.add(nowMs)
    let isAllowed = true
    for (let i = 0; i < this.limits.length; i++) {
      if ((this.limits[i] as LimitReplay).decide(id, nowMs)) continue
      isAllowed = false
      this.histogram.addDenial(i)
    }
    return isAllowed
  }

  #moveClock(timeMs: number, file: FileCheck, line: number): void {
    const msBack = this.clock.advance(timeMs, file.name, line)
    file.countRequest(timeMs, msBack, line)
    if (msBack === 0) return
    this.outOfOrder++
    this.mostMsBack = Math.max(this.mostMsBack, msBack)
  }
}

/** Checks that a file is a log, and begins where those before it end. */
export class FileCheck {
  readonly name: string
  lines = 0
  readable = 0
  blank = 0
  #late = 0
  /** The first late line, and the one with the newest time then. */
  #firstLate = ''
  #counted = 0
  readonly #clock: Clock
  readonly #newestBeforeMs: number
  readonly #before: string
  #requests = 0
  #newestMs = Number.NEGATIVE_INFINITY

  constructor(name: string, clock: Clock) {
    this.name = name
    this.#clock = clock
    this.#newestBeforeMs = clock.newestMs
    this.#before = clock.describe()
  }

  countUnreadable(): void {
    if (this.lines === LINES_TRIED && this.readable === 0) this.#throwNoLog()
  }

  /** Counts a request that is so far behind the clock. */
  countRequest(timeMs: number, msBack: number, line: number): void {
    this.#counted++
    if (msBack > MAX_STEP_BACK_MS && this.#late++ === 0)
      this.#firstLate = `the first in line ${line} (${this.#clock.describe()})`
    if (this.#requests >= REQUESTS_TRIED) return
    this.#requests++
    this.#newestMs = Math.max(this.#newestMs, timeMs)
    if (this.#requests === REQUESTS_TRIED) this.#checkOrder()
  }

  end(): void {
    if (this.lines > this.blank && this.readable === 0) this.#throwNoLog()
    if (this.#requests > 0) this.#checkOrder()
    if (this.#late <= MAX_LATE || this.#late <= MAX_LATE_SHARE * this.#counted) return
    const problem = `${this.#late} of its ${this.#counted} requests are more than a minute older than one before`
    const fix = 'Sort it by time, the oldest first'
    throw new InputError(`${this.name} is out of order: ${problem}, ${this.#firstLate}. ${fix}`)
  }

  #checkOrder(): void {
    if (this.#newestMs >= this.#newestBeforeMs - MAX_STEP_BACK_MS) return
    const problem = `begins before the log in front of it ends (${this.#before})`
    throw new InputError(`${this.name} ${problem}: name the oldest file first`)
  }

  #throwNoLog(): never {
    const formats = 'the common or combined format, or JSON with a time and an address'
    throw new InputError(
      `${this.name} is no access log: none of its first ${this.lines} lines is in ${formats}`,
    )
  }
}
