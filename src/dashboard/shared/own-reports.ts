import type { LimiterWatch } from '../figures/limiter-watch.js'
import { type LimiterReport, MAX_BLOCKED } from '../figures/report.js'
import { goesOn } from '../figures/run.js'
import { sharesOf } from './shares.js'

/** With more limiters than this, or more of them that deny, reports and figures are made less often. */
export const FEW_LIMITERS = 50

/** The denied clients that all processes report together, and one process: at least, and at most. */
const ALL_CLIENTS = 50_000
const MIN_CLIENTS = 50
const MAX_CLIENTS = 400
/** The clients that the findings of all limiters look at, and those of one: at least, and at most. */
const ALL_OF_FINDINGS = 2000
const MIN_OF_FINDING = 10
const MAX_OF_FINDING = 50
/** The clients of a limiter that blocks some: those that may be, and those that findings look at. Of few limiters. */
const OF_BLOCKING = MAX_BLOCKED + MAX_OF_FINDING
const MAX_BLOCKING = 4
/** The clients near a limit that a process reports of all limiters, and of one: at least, and at most. */
const ALL_NEAR = 400
const MIN_NEAR = 2
const MAX_NEAR = 20

/** What the limiters of a group did in this process, for its own page and for other processes. */
export class OwnReports {
  /** How many clients of a limiter findings look at. */
  readonly ofFinding: number
  readonly #watches: readonly LimiterWatch[]
  readonly #near: number
  readonly #now: () => number
  #latest: { readonly atMs: number; readonly reports: readonly LimiterReport[] } | undefined

  constructor(watches: readonly LimiterWatch[], now: () => number) {
    this.#watches = watches
    this.#now = now
    this.ofFinding = shareOf(ALL_OF_FINDINGS, watches.length, MIN_OF_FINDING, MAX_OF_FINDING)
    this.#near = shareOf(ALL_NEAR, watches.length, MIN_NEAR, MAX_NEAR)
  }

  /** Returns the reports until now, or until at most `maxAgeMs` ago, without clients that are near a limit. */
  latest(maxAgeMs = 0): readonly LimiterReport[] {
    const nowMs = this.#now()
    if (this.#latest === undefined || Math.abs(nowMs - this.#latest.atMs) > maxAgeMs) {
      const most = this.#shares(MAX_CLIENTS).map((share) => Math.max(share, this.ofFinding))
      const reports = this.#watches.map((watch, i) => watch.report(most[i], 0))
      this.#latest = { atMs: nowMs, reports }
    }
    return this.#latest.reports
  }

  /** Whether many limiters have denied in the last minute, by the latest reports. */
  get denyInMany(): boolean {
    const { reports = [] } = this.#latest ?? {}
    const denying = reports.filter(({ run }) => run !== undefined && goesOn(run, this.#now()))
    return denying.length > FEW_LIMITERS
  }

  /** Returns reports, with as many clients as one of so many processes tells the others. */
  withClients(reports: readonly LimiterReport[], processes: number): readonly LimiterReport[] {
    const shares = this.#shares(shareOf(ALL_CLIENTS, processes, MIN_CLIENTS, MAX_CLIENTS))
    return reports.map((report, i) => {
      const near = this.#watches[i]?.near(this.#near) ?? []
      return { ...report, near, denied: report.denied.slice(0, shares[i]) }
    })
  }

  #shares(clients: number): readonly number[] {
    const lengths = this.#watches.map(({ deniedCount }) => deniedCount)
    let blocking = 0
    return sharesOf(lengths, clients).map((share, i) => {
      const isBlocking = this.#watches[i]?.isBlocking === true && blocking++ < MAX_BLOCKING
      return isBlocking ? Math.max(share, Math.min(lengths[i] ?? 0, OF_BLOCKING)) : share
    })
  }
}

/** Divides `all` by `count`: at least `min`, and at most `max`. */
function shareOf(all: number, count: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, Math.floor(all / count)))
}
