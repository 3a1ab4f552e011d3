import { createLimiter, fixedWindow, type Limiter } from 'headgate'
import { findingFiguresOf } from '../../../../src/dashboard/board/finding-figures-of.js'
import { LimiterWatch } from '../../../../src/dashboard/figures/limiter-watch.js'
import { mergeReports } from '../../../../src/dashboard/figures/merge.js'
import { allSlots } from '../../../../src/dashboard/figures/traffic.js'
import { findingOf } from '../../../../src/dashboard/findings/finding-of.js'
import { Group } from '../../../../src/dashboard/shared/group.js'
import type { ProcessIdentity } from '../../../../src/dashboard/shared/this-process.js'
import { type Inspection, inspectionOf } from '../../../../src/limiter/inspection.js'
import { sharedDocuments, sharedStore } from './shared-documents.js'

/** How often processes look whether there is something to do. */
export const TICK_MS = 2000

/** Processes that share documents, with a clock that stands still until it is told. */
export function processes(startMs: number) {
  const shared = sharedDocuments()
  const started: TestProcess[] = []
  let nowMs = startMs

  /** Starts a process that counts, and shares what it counts. Its clock is ahead by `aheadMs`. */
  function start(id: string, { aheadMs = 0, dashboard = 0, host = 'web' } = {}) {
    const store = sharedStore(shared.documents)
    let ownAheadMs = aheadMs
    const now = () => nowMs + ownAheadMs
    const policy = fixedWindow({ limit: 5, window: '1h' })
    const limiter: Limiter<string> = createLimiter({
      name: 'api',
      policy,
      key: (name: string) => name,
      store,
    })
    const inspection = inspectionOf(limiter) as Inspection
    const watch = new LimiterWatch({ name: 'api', limiter, inspection }, now)
    const identity: ProcessIdentity = { id, host, pid: 1, version: '1.0.0', startedAtMs: now() }
    const { documents } = shared
    const options = { store: 'redis', prefix: 'hg', documents, isShared: true, watches: [watch], dashboard }
    const group = new Group(options, now, identity)
    const process = {
      group,
      watch,
      async charge(times: number, name = 'ada') {
        for (let i = 0; i < times; i++) await limiter.charge(name)
      },
      /** Sets the clock right, or wrong. */
      setClock(nextAheadMs: number) {
        ownAheadMs = nextAheadMs
      },
      states: () => Object.fromEntries(group.members().map(({ header, state }) => [header.id, state])),
      allowed() {
        const others = group.members().flatMap(({ reports = [] }) => reports)
        const { allowed } = allSlots(mergeReports([watch.report(), ...others]).traffic)
        return allowed.reduce((sum, count) => sum + count, 0)
      },
      /** What the page of the process says of the limiter. */
      sentence() {
        const others = group.members().flatMap(({ reports = [] }) => reports)
        const report = mergeReports([watch.report(), ...others])
        const circumstances = { outage: undefined, isOverloadGuard: false, labelOf: () => undefined }
        return findingOf(findingFiguresOf(report, { nowMs: now(), ...circumstances })).sentence
      },
      events: () => group.log.events().map(({ kind, text }) => [kind, text]),
    }
    started.push(process)
    return process
  }

  return {
    shared,
    start,
    /** Lets time pass, in which processes tick, and the pages of some are refreshed. */
    async pass(
      ms: number,
      ticking: readonly TestProcess[],
      open: readonly TestProcess[] = [],
      stepMs = TICK_MS,
    ): Promise<void> {
      for (const endMs = nowMs + ms; nowMs < endMs; nowMs += stepMs) {
        for (const { group } of ticking) await group.tick()
        for (const { group } of open) await group.refresh()
      }
    },
    /** Lets time pass in which nothing happens. */
    skip(ms: number) {
      nowMs += ms
    },
    end() {
      for (const { watch } of started) watch.stop()
    },
  }
}

export interface TestProcess {
  readonly group: Group
  readonly watch: LimiterWatch
  charge(times: number, name?: string): Promise<void>
  setClock(aheadMs: number): void
  /** The states of the other processes, by id. */
  states(): Record<string, string>
  /** How many requests all processes together have allowed in 15 minutes. */
  allowed(): number
  sentence(): string
  events(): string[][]
}

/** Has processes come and go, each for half a minute, beside one that stays. */
export async function visit(count: number) {
  const { shared, start, pass, skip, end } = processes(1_790_000_000_000)
  const watcher = start('watcher')
  await pass(TICK_MS, [watcher])
  for (let i = 0; i < count; i++) {
    const visitor = start(`visitor-${i}`)
    await visitor.group.tick()
    await visitor.group.close()
    visitor.watch.stop()
    skip(30_000)
    if (i % 20 === 0) await watcher.group.tick()
  }
  await watcher.group.log.read()
  end()
  return { texts: shared.of('processes/'), events: watcher.events() }
}
