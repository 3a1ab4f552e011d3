import { createLimiter, fixedWindow, type Limiter, type Store } from 'headgate'
import { LimiterWatch } from '../../../src/dashboard/figures/limiter-watch.js'
import { Group } from '../../../src/dashboard/shared/group.js'
import { type Inspection, inspectionOf } from '../../../src/limiter/inspection.js'
import type { Documents } from '../../../src/stores/documents.js'

/** A process with a dashboard: a limiter with its own client of the store, and the group of both. */
export interface DashboardProcess {
  readonly limiter: Limiter<string>
  readonly watch: LimiterWatch
  readonly group: Group
  stop(): Promise<void>
}

/** Creates a process with a limiter named `api` that counts by name. `clock` is that of its dashboard. */
export function dashboardProcess(
  id: string,
  { store, limit, clock }: { store: Store; limit: number; clock: () => number },
): DashboardProcess {
  const policy = fixedWindow({ limit, window: '1h', startsAt: 'first-request' })
  const limiter = createLimiter<string>({ name: 'api', policy, key: (name) => name, store, timeout: '5s' })
  const inspection = inspectionOf(limiter) as Inspection
  const watch = new LimiterWatch({ name: 'api', limiter, inspection }, clock)
  const options = {
    store: store.name,
    prefix: 'hg',
    documents: store.documents as Documents,
    isShared: true,
    watches: [watch],
    dashboard: 0,
  }
  const identity = { id, host: id, pid: 1, version: '1.0.0', startedAtMs: clock() }
  return {
    limiter,
    watch,
    group: new Group(options, clock, identity),
    async stop() {
      watch.stop()
      await limiter.close()
    },
  }
}
