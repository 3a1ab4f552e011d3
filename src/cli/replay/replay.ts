import { parseAddress } from '../../keys/address.js'
import { InputError } from '../failures.js'
import { clientAddress } from '../log/client-address.js'
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
import { LeftOut, type Reason } from './left-out.js'
import { LimitReplay } from './limit-replay.js'
import { type LineFormats, lineFormats } from './line-formats.js'
import { learnProxies } from './proxies.js'
import { WindowCounts } from './suggestions.js'
import { type Understood, understood } from './understood.js'

/** A line of an input; the first is 1. */
export interface LogPlace {
  readonly file: string
  readonly line: number
}

/** A request this much after the one before is held until the next one confirms its time. */
const MAX_JUMP_MS = 86_400_000
/** The code of a space. Tabs are below it. */
const SPACE = 32

/** A line that has nothing between its first field and the time, which may be a part of another line. */
const NO_USER = /^\S+ (?:- )?(?:\[|\d{4}-\d\d-|\d\d\/[A-Z])/

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
  /** Requests that count by an address which may be a proxy's: see `--trust-proxy`. */
  privateAddresses = 0
  /** Requests whose client is from a forwarded list, and those whose list was not trusted. */
  forwarded = 0
  forwardedIgnored = 0
  /** The first line that is a request, and how it was understood. */
  firstRequest: (LogPlace & Understood) | undefined
  readonly leftOut = new LeftOut()
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
  readonly #formats: LineFormats
  readonly #request = emptyRequest()
  #held: Held | undefined

  constructor(settings: ReplaySettings) {
    this.#settings = settings
    this.#formats = lineFormats(settings.format)
    this.#identityOf = loggedIdentity(settings.keys, (doubt) => {
      if (doubt === 'unknown') this.unknownAddresses++
      else if (settings.isProxy === undefined) this.privateAddresses++
    })
    this.#needsFields = settings.keys.some((part) => typeof part === 'object')
    this.limits = settings.policies.map((policy) => new LimitReplay(policy))
    this.histogram = new Histogram(this.limits.length)
    this.windows = settings.suggest && new WindowCounts(settings.suggest.windowMs, settings.suggest.startsAt)
  }

  /** Replays one input, after those before it. `onRead` gets how many bytes were read of it. */
  async readFile(path: string, onRead: (bytes: number) => void): Promise<void> {
    const file = new FileCheck(nameOf(path), this.clock, this.#formats.help)
    const prefix = new LinePrefix(
      (text) => this.#score(text),
      (lines) => this.#learn(lines.map(unindented), file),
      (text, isTooLong) => this.#addLine(text, file, isTooLong),
    )
    const splitter = new LineSplitter((line) => prefix.push(line))
    await readLog(path, (chunk) => splitter.push(chunk), onRead)
    splitter.end()
    prefix.end()
    if (!this.clock.isStarted) this.end() // the only request so far: the next log must not be older
    file.end()
  }

  /** Learns what the lines of a file have in common, by the first of them. */
  #learn(lines: readonly string[], file: FileCheck): void {
    this.#formats.learn(lines)
    if (this.#settings.isProxy !== undefined) file.isProxy = this.#settings.isProxy
    else file.isProxy = learnProxies(lines.flatMap((line) => this.#addressesOf(line)))
  }

  #addressesOf(line: string): Pick<LoggedRequest, 'address' | 'forwarded'>[] {
    if (this.#formats.read(line, this.#request) !== 'request') return []
    const { address, forwarded } = this.#request
    return [{ address, forwarded }]
  }

  #addLine(line: string | undefined, file: FileCheck, isTooLong: boolean): void {
    this.lines++
    file.lines++
    const text = line === undefined ? undefined : unindented(line)
    const kind = text === '' ? 'other' : this.#read(text)
    if (kind === 'unreadable') {
      this.#countUnreadable({ file, line: file.lines }, isTooLong ? 'tooLong' : 'unknownFormat')
      file.countUnreadable(text)
      return
    }
    if (text === '') file.blank++
    else file.readable++
    if (kind === 'other') this.#skip(text === '' ? 'blank' : 'noRequest')
    else {
      this.firstRequest ??= this.#understand(text ?? '', file)
      this.addRequest(this.#request, file)
    }
  }

  #read(text: string | undefined): LineKind {
    return text === undefined ? 'unreadable' : this.#formats.read(text, this.#request)
  }

  #understand(text: string, { name, lines, isProxy }: FileCheck): LogPlace & Understood {
    const sources = this.#formats.sources(text, this.#request)
    return { file: name, line: lines, ...understood(this.#request, sources, isProxy) }
  }

  /** Returns how sure it is that a request begins where a text does: an address says more than a name. */
  #score(text: string): number {
    if (this.#read(unindented(text)) !== 'request') return 0
    return parseAddress(this.#request.address) === undefined || NO_USER.test(text) ? 1 : BEST_SCORE
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
      else this.#countUnreadable(held, 'unconfirmedTime')
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

  #skip(reason: Reason): void {
    this.skipped++
    this.leftOut.count(reason)
  }

  #countUnreadable({ file, line }: Pick<Held, 'file' | 'line'>, reason: Reason): void {
    this.unreadable++
    this.leftOut.count(reason)
    this.firstUnreadable ??= { file: file.name, line }
  }

  #decide({ request, file, line }: Held): boolean | undefined {
    this.#moveClock(request.timeMs, file, line)
    if (!this.#settings.isWanted(request)) {
      this.#skip('otherRoute')
      return undefined
    }
    if (request.forwarded !== undefined) this.#chooseClient(request, file)
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

  /** Puts the client's address in place of a proxy's. */
  #chooseClient(request: LoggedRequest, { isProxy }: FileCheck): void {
    const client = clientAddress(request.address, request.forwarded, isProxy)
    if (client !== request.address) this.forwarded++
    else if (clientAddress('', request.forwarded) !== '') this.forwardedIgnored++
    request.address = client
    request.forwarded = undefined
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
