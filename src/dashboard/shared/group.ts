import type { Documents } from '../../stores/documents.js'
import { boundedCalls } from '../../stores/shared/bounded-calls.js'
import type { LimiterWatch } from '../figures/limiter-watch.js'
import type { FigureReader } from '../figures/shown.js'
import { type EventLog, eventLog } from './event-log.js'
import { FIGURES_MS, Fleet, type Member } from './fleet.js'
import { Histories } from './histories.js'
import { LeftBehind } from './left-behind.js'
import type { LimiterHistory } from './limiter-history.js'
import { OwnReports } from './own-reports.js'
import type { ProcessDocument, ProcessHeader } from './process-document.js'
import { goneEvent, processEvent } from './process-events.js'
import { type Kept, ProcessReports } from './process-reports.js'
import { thisProcess } from './this-process.js'
import { watchedMark } from './watched.js'

/** How often a process reports while a page is open anywhere, and otherwise. */
const WATCHED_MS = 2000
const UNWATCHED_MS = 10_000
/**
 * An open page reads what the others report every second. If more time has passed, the store or this process stood
 * still, and the others may not have been able to report either.
 */
const REFRESH_GAP_MS = 2500
/** With more processes than this, each reports less often, and fewer clients. */
const FEW_PROCESSES = 50
/** How often someone looks for processes that have vanished, while no page is open. */
const SCAN_MS = 20_000
/** Of how many processes. With more, each looks less often. */
const SCANNING_PROCESSES = 8

/** The limiters of a dashboard that share a store and a prefix. */
export interface GroupOptions {
  /** The name of the store, for messages. */
  readonly store: string
  readonly prefix: string
  readonly documents: Documents
  /** Whether other processes use the store. */
  readonly isShared: boolean
  readonly watches: readonly LimiterWatch[]
  /** The number of the dashboard in this process. */
  readonly dashboard: number
}

/** What processes share of a group: they report to one another, and read what others report. */
export class Group {
  readonly options: GroupOptions
  readonly log: EventLog
  /** What this process reports. */
  readonly own: OwnReports
  /** By the name of the limiter. */
  readonly histories: ReadonlyMap<string, LimiterHistory>
  readonly #now: () => number
  readonly #header: Omit<ProcessHeader, 'atMs' | 'everyMs'>
  readonly #fleet = new Fleet()
  readonly #left: LeftBehind
  #documents: readonly ProcessDocument[] = []
  readonly #reports
  readonly #histories
  readonly #mark
  readonly #reads
  readonly #writes
  readonly #logging
  readonly #remembering
  #publishedMs = Number.NEGATIVE_INFINITY
  #scannedMs = Number.NEGATIVE_INFINITY
  #hasReported = false
  #isClosed = false

  constructor(options: GroupOptions, now: () => number = Date.now, process = thisProcess()) {
    const { store, documents, prefix, dashboard, watches } = options
    this.options = options
    this.#now = now
    this.#header = { ...process, dashboard }
    this.#left = new LeftBehind(process.id)
    this.own = new OwnReports(watches, now)
    const isKept = (header: ProcessHeader) => this.#fleet.isKept(now(), header)
    this.#reports = new ProcessReports(documents, prefix, isKept)
    this.#mark = watchedMark(documents, prefix, process.id)
    this.#reads = boundedCalls(store)
    this.#writes = boundedCalls(store)
    this.#logging = boundedCalls(store)
    this.#remembering = boundedCalls(store)
    this.log = eventLog(documents, prefix, now)
    this.#histories = new Histories(documents, prefix, watches, process.id, now())
    this.histories = this.#histories.byName
  }

  /** The other dashboards that report, or have reported within an hour. Empty while they cannot be read. */
  members(): readonly Member[] {
    return this.problem() === undefined ? this.lastMembers() : []
  }

  /** The same as they were read last, even if that is no longer possible. */
  lastMembers(): readonly Member[] {
    return this.#fleet.members().filter(({ header }) => !this.#isOwn(header))
  }

  /** Why the figures are those of this process alone; `undefined` if they are not. */
  problem(): string | undefined {
    return this.#reads.problem() ?? this.#writes.problem()
  }

  /** Why events and the history are not written; `undefined` if they are. */
  recordProblem(): string | undefined {
    return this.#logging.problem() ?? this.#remembering.problem()
  }

  /** Reports to the others, if it is time, and looks for those that have vanished. Never rejects. */
  async tick(): Promise<void> {
    if (this.options.isShared) {
      await this.#reads.attempt(() => this.#mark.read(this.#now()))
      if (this.#isScanDue()) await this.#reads.attempt(() => this.#scan(2 * this.#scanEveryMs()))
      if (this.#isReportDue()) await this.#writes.attempt(() => this.#publish())
    }
    await this.#remembering.attempt(() => this.#histories.add(this.#now()))
    await this.#remembering.attempt(() => this.#histories.adopt(this.#left, this.#documents, this.#now()))
    await this.#logging.attempt(() => this.log.flush())
  }

  /**
   * Reads what the others report: for an open page, which does so every second and has them report more often, or for
   * one request. Takes 800 ms at most, even if the store hangs. Never rejects.
   */
  async refresh(reader: FigureReader = 'page'): Promise<void> {
    const { isShared } = this.options
    const gapMs = reader === 'page' ? REFRESH_GAP_MS : 2 * this.#scanEveryMs()
    await Promise.all([
      isShared && reader === 'page' && this.#writes.attempt(() => this.#mark.renew(this.#now())),
      isShared && this.#reads.attempt(() => this.#scan(gapMs)),
      this.#logging.attempt(() => this.log.read()),
    ])
  }

  /** Tells the others that this process has been closed. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#remembering.attempt(() => this.#histories.close(this.#now()))
    if (!this.#hasReported) return
    this.log.add(processEvent('process-closed', this.#header, this.#now()))
    await this.#writes.attempt(() => this.#publish({ closedAtMs: this.#now() }))
    await this.#logging.attempt(() => this.log.flush())
  }

  #isOwn({ id, dashboard }: ProcessHeader): boolean {
    return id === this.#header.id && dashboard === this.#header.dashboard
  }

  /** How many dashboards live, this one included. */
  #livingCount(): number {
    const members = this.#fleet.members()
    return 1 + members.filter(({ header, state }) => state === 'alive' && !this.#isOwn(header)).length
  }

  #everyMs(): number {
    const watchedMs = this.own.denyInMany ? 2 * WATCHED_MS : WATCHED_MS
    const everyMs = this.#mark.isOpen(this.#now()) ? watchedMs : UNWATCHED_MS
    return everyMs * Math.ceil(this.#livingCount() / FEW_PROCESSES)
  }

  /** Ticks are not punctual: a report that is due in a moment is made now, and not a whole tick later. */
  #isReportDue(): boolean {
    return Math.abs(this.#now() - this.#publishedMs) >= this.#everyMs() - WATCHED_MS / 4
  }

  #scanEveryMs(): number {
    return SCAN_MS * Math.max(1, this.#livingCount() / SCANNING_PROCESSES)
  }

  #isScanDue(): boolean {
    return Math.abs(this.#now() - this.#scannedMs) >= this.#scanEveryMs()
  }

  async #publish(closed: { readonly closedAtMs?: number } = {}): Promise<void> {
    const header = { ...this.#header, atMs: this.#now(), everyMs: this.#everyMs(), ...closed }
    await this.#reports.write(header, this.own, this.#livingCount())
    this.#publishedMs = header.atMs
    if (this.#hasReported) return
    this.#hasReported = true
    this.log.add(processEvent('process-seen', header, header.atMs))
  }

  /** Reads what the others have written. After a pause of more than `gapMs`, none of them counts as silent. */
  async #scan(gapMs: number): Promise<void> {
    const { figures, clients } = await this.#reports.read()
    const nowMs = this.#now()
    this.#fleet.update(nowMs, figures, clients, this.#isStoreLate() ? 0 : gapMs)
    this.#scannedMs = nowMs
    const gone = this.#fleet.members().filter(({ header, state }) => state === 'gone' && !this.#isOwn(header))
    for (const member of gone) if (this.#fleet.sawEnd(member)) this.log.add(goneEvent(member, nowMs))
    this.#left.update(
      nowMs,
      gone.map(({ header }) => header),
    )
    this.#documents = figures.flatMap((slot) => slot?.document ?? [])
    await this.#reports.tidy(figures, clients, {
      figuresOf: (document) => this.#keptOf(document, nowMs),
      hasClients: (header) => this.#isOwn(header) || this.#fleet.isKept(nowMs, header, FIGURES_MS),
    })
    await this.#restore()
  }

  /** Writes at once what the store has lost of this process. */
  async #restore(): Promise<void> {
    const header = { ...this.#header, atMs: this.#now(), everyMs: 0 }
    if (this.#isClosed || !this.#reports.isLost(header)) return
    await this.#writes.attempt(() => this.#publish())
  }

  /** While this process waits for the store, the others may do so too: none of them is silent. */
  #isStoreLate(): boolean {
    return this.options.watches.some(({ storeState }) => storeState !== 'closed')
  }

  /** The figures of a process that has ended are dropped once they are old, and later the whole document. */
  #keptOf({ header, hasFigures }: ProcessDocument, nowMs: number): ReturnType<Kept['figuresOf']> {
    if (this.#isOwn(header)) return 'all'
    if (hasFigures && !this.#left.isDone(header)) return 'all' // its steps are added first
    if (!this.#fleet.isKept(nowMs, header)) return 'nothing'
    return this.#fleet.isKept(nowMs, header, FIGURES_MS) ? 'all' : 'header'
  }
}
