import { createLimiter, sharedSettings, slidingLog } from 'headgate'
import { redisStore } from 'headgate/redis'
import type { Redis } from 'ioredis'
import { watchEvents } from '../../../src/dashboard/board/event-sources.js'
import { trialsOf } from '../../../src/dashboard/board/trials.js'
import { LimiterWatch } from '../../../src/dashboard/figures/limiter-watch.js'
import { Group } from '../../../src/dashboard/shared/group.js'
import { type Inspection, inspectionOf } from '../../../src/limiter/inspection.js'
import type { Documents } from '../../../src/stores/documents.js'

export const LIMIT = 20

/** What a process of the trial tests does when it is told. */
export interface TrialCommands {
  /** Sets its clock, which then stands still. */
  setTime(nowMs: number): Promise<void>
  /** Charges each client so many times. */
  charge(clients: readonly string[], times: number): Promise<void>
  /** Does what its dashboard does every few seconds. */
  tick(): Promise<void>
  /** Returns the limits that it applies. */
  limits(): Promise<readonly number[]>
}

/** A process with a limiter on shared settings, and with a dashboard. */
export function trialProcess(client: Redis, id: string, setTime: (nowMs: number) => void) {
  const store = redisStore(client)
  const limiter = createLimiter<string>({
    name: 'api',
    policy: slidingLog({ limit: LIMIT, window: '1h' }),
    key: (name) => name,
    settings: sharedSettings(store),
    store,
  })
  const watch = new LimiterWatch({ name: 'api', limiter, inspection: inspectionOf(limiter) as Inspection })
  const documents = store.documents as Documents
  const options = { store: 'redis', prefix: 'hg', documents, isShared: true, watches: [watch], dashboard: 0 }
  const identity = { id, host: 'web', pid: process.pid, version: '1.0.0', startedAtMs: Date.now() }
  const now = () => Date.now()
  const group = new Group(options, now, identity)
  const events = watchEvents(group, now)
  const trials = trialsOf(group, now)
  const commands: TrialCommands = {
    setTime: async (nowMs) => setTime(nowMs),
    async charge(clients, times) {
      for (let i = 0; i < times; i++) await Promise.all(clients.map((each) => limiter.charge(each)))
    },
    async tick() {
      events.check()
      await trials.check()
      await group.tick()
    },
    limits: async () => watch.limitsInForce().map(({ limit }) => limit),
  }
  return {
    ...commands,
    async close() {
      events.stop()
      watch.stop()
      await limiter.close()
    },
  }
}
