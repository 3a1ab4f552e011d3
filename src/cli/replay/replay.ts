import { InputError } from '../failures.js'
import { clientAddress } from '../log/client-address.js'
import type { FieldSources } from '../log/line-reader.js'
import { LocalClock } from '../log/local-clock.js'
import { nameOf, readLog } from '../log/read-log.js'
import type { LoggedRequest } from '../log/request-line.js'
import type { ReplaySettings } from './arguments.js'
import { ClientTable } from './client-table.js'
import { Decisions } from './decisions.js'
import { FileCheck } from './file-check.js'
import { loggedIdentity } from './identity.js'
import { LeftOut, type Reason } from './left-out.js'
import { lineFormats } from './line-formats.js'
import type { LineSink } from './line-sink.js'
import { LocalTimes } from './local-times.js'
import { LogInput } from './log-input.js'
import { learnProxies } from './proxies.js'
import { readSideBySide } from './side-by-side.js'
import { MAX_LATE_MS, SortWindow } from './sort-window.js'
import { type Understood, understand } from './understood.js'

/** A line of an input; the first is 1. */
export interface LogPlace {
  readonly file: string
  readonly line: number
}

/**
 * Reads logs, sorts their requests within a bounded window, and decides them.
 *
 * Memory grows with the number of clients, not with that of lines.
 */
export class Replay implements LineSink {
  lines = 0
  unreadable = 0
  firstUnreadable: LogPlace | undefined
  /** Lines that are not requests, or that `--only` leaves out. */
  skipped = 0
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
  readonly clients = new ClientTable()
  readonly decisions: Decisions
  readonly localTimes = new LocalTimes()
  readonly #settings: ReplaySettings
  readonly #identityOf: (request: LoggedRequest) => string
  readonly #needsFields: boolean
  readonly #window: SortWindow

  constructor(settings: ReplaySettings) {
    this.#settings = settings
    this.#identityOf = loggedIdentity(settings.keys, (doubt) => {
      if (doubt === 'unknown') this.unknownAddresses++
      else if (settings.isProxy === undefined) this.privateAddresses++
    })
    this.#needsFields = settings.keys.some((part) => typeof part === 'object')
    this.decisions = new Decisions(settings)
    this.#window = new SortWindow((timeMs, client) => this.decisions.decide(timeMs, client))
  }

  /** Replays logs. `onRead` gets how many bytes were read of one. */
  async readAll(paths: readonly string[], onRead: (bytes: number) => void): Promise<void> {
    const inputs = paths.map((path) => this.#open(path, onRead))
    await readSideBySide(inputs, (timeMs) => this.#window.release(timeMs - MAX_LATE_MS))
  }

  #open(path: string, onRead: (bytes: number) => void): LogInput {
    const createReader = () => {
      const clock = new LocalClock(this.#settings.timeZone)
      return { clock, reader: lineFormats(this.#settings, (localMs) => clock.toUtc(localMs)) }
    }
    const { clock, reader } = createReader()
    const { reader: sampleReader } = createReader()
    const file = new FileCheck(nameOf(path), reader.help, this.#settings.needs)
    return new LogInput(file, readLog(path, onRead), { reader, sampleReader, clock }, this)
  }

  onLine(): void {
    this.lines++
  }

  onSample(requests: readonly Pick<LoggedRequest, 'address' | 'forwarded'>[], file: FileCheck): void {
    file.isProxy = this.#settings.isProxy ?? learnProxies(requests)
  }

  onFirst(request: LoggedRequest, sources: FieldSources, { name, lines, isProxy }: FileCheck): void {
    this.firstRequest ??= { file: name, line: lines, ...understand(request, sources, isProxy) }
  }

  onOther(reason: Reason): void {
    this.skipped++
    this.leftOut.count(reason)
  }

  onUnreadable({ name }: FileCheck, line: number, reason: Reason): void {
    this.unreadable++
    this.leftOut.count(reason)
    this.firstUnreadable ??= { file: name, line }
  }

  onRequest(request: LoggedRequest, msBack: number, file: FileCheck, line: number): void {
    if (request.local !== undefined) this.localTimes.add(request.local, request.timeMs, file)
    if (msBack > 0) {
      this.outOfOrder++
      this.mostMsBack = Math.max(this.mostMsBack, msBack)
    }
    if (!this.#settings.isWanted(request)) {
      this.onOther('otherRoute')
      return
    }
    if (request.forwarded !== undefined) this.#chooseClient(request, file)
    if (this.#needsFields && request.fields === undefined)
      throw new InputError(
        `${file.name}, line ${line}: --key field:NAME requires lines of JSON or other fields`,
      )
    this.#window.add(request.timeMs, this.clients.idOf(this.#identityOf(request)))
  }

  /** Puts the client's address in place of a proxy's. */
  #chooseClient(request: LoggedRequest, { isProxy }: FileCheck): void {
    const client = clientAddress(request.address, request.forwarded, isProxy)
    if (client !== request.address) this.forwarded++
    else if (!['', client].includes(clientAddress('', request.forwarded))) this.forwardedIgnored++
    request.address = client
    request.forwarded = undefined
  }
}
