import { parseAddress } from '../../keys/address.js'
import { InputError } from '../failures.js'
import { accessLineReader } from '../log/access-line.js'
import { readJsonLine } from '../log/json-line.js'
import { BEST_SCORE, LinePrefix } from '../log/line-prefix.js'
import { LineSplitter } from '../log/line-splitter.js'
import { nameOf, readLog } from '../log/read-log.js'
import { emptyRequest, type LineKind, type LoggedRequest } from '../log/request-line.js'
import type { ReplaySettings } from './arguments.js'
import { ClientTable } from './client-table.js'
import { Clock } from './clock.js'
import { FileCheck, MAX_STEP_BACK_MS } from './file-check.js'
import { Histogram } from './histogram.js'
import { loggedIdentity } from './identity.js'
import { LimitReplay } from './limit-replay.js'
import { WindowCounts } from './suggestions.js'

/** A line of an input; the first is 1. */
export interface LogPlace {
  readonly file: string
  readonly line: number
}

/** A request this much after the one before is held until the next one confirms its time. */
const MAX_JUMP_MS = 86_400_000
/** The code of a space. Tabs are below it. */
const SPACE = 32

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
  firstUnreadable: LogPlace | undefined
  /** Lines that are not requests, or that `--only` leaves out. */
  skipped = 0
  requests = 0
  /** Requests without a valid address, if the address is a part of the key. They share one client. */
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
    const prefix = new LinePrefix(
      (text) => this.#score(text),
      (text) => this.#addLine(text, file),
    )
    const splitter = new LineSplitter((line) => prefix.push(line))
    await readLog(path, (chunk) => splitter.push(chunk), onRead)
    splitter.end()
    prefix.end()
    if (!this.clock.isStarted) this.end() // the only request so far: the next log must not be older
    file.end()
  }

  #addLine(line: string | undefined, file: FileCheck): void {
    this.lines++
    file.lines++
    const text = line === undefined ? undefined : unindented(line)
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

  /** Returns how sure it is that a request begins where a text does: an address says more than a name. */
  #score(text: string): number {
    if (this.#read(unindented(text)) !== 'request') return 0
    return parseAddress(this.#request.address) === undefined ? 1 : BEST_SCORE
  }

  /**
   * Returns whether every limit allows a request; `undefined` if none applies, or if it is held: a time
   * far ahead, and the first of all, count once the next request is not before them, so that one wrong time
   * does not stop the clock.
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
    let index = 0
    for (const limit of this.limits) {
      if (!limit.decide(id, nowMs)) {
        isAllowed = false
        this.histogram.addDenial(index)
      }
      index++
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

/** JSON lines may be indented. */
function unindented(line: string): string {
  return line.charCodeAt(0) <= SPACE ? line.trimStart() : line
}
