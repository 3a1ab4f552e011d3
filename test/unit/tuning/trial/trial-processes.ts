import { memoryStore, type Store, sharedSettings } from 'headgate'
import type { Documents } from 'headgate/store'
import { type SharedTrials, sharedTrials } from '../../../../src/tuning/trial/shared-trials.js'
import type { TrialPlan } from '../../../../src/tuning/trial/trial.js'
import { between, clients, demandOf } from '../demands.js'

export const HOUR_MS = 3_600_000
export const START_MS = Date.UTC(2026, 10, 24)
export const ada = { by: 'ada', reason: 'tune said so' }
export const bob = { by: 'bob', reason: 'a launch' }
export const KEY = 'hg:dashboard:trials/api'

/** Lowers the limit to 60. It runs as a candidate for a day, and may be reverted within an hour. */
export const PLAN: TrialPlan = {
  ...{ limiter: 'api', limitName: 'api', limit: 60, apart: ['scraper'], apartFrom: 600 },
  ...{ watchMs: 24 * HOUR_MS, guardMs: HOUR_MS, maxHarmedShare: 0.01 },
}

/** Processes that share a store and a clock. */
export function sharedWorld() {
  const store = memoryStore()
  const documents = store.documents as Documents
  const world = {
    nowMs: START_MS,
    documents,
    /** Returns a process, whose reads and writes `change` may stand before. */
    process(change: (documents: Documents) => Partial<Documents> = () => ({})) {
      const own = { ...documents, ...change(documents) }
      const ownStore = { ...store, documents: own } satisfies Store
      const settings = sharedSettings(ownStore)
      const trials: SharedTrials = sharedTrials(ownStore, settings, { now: () => world.nowMs })
      return { settings, trials }
    },
    /** What clients demand from now on until a length of time has passed, which then has passed. */
    pass(lengthMs: number, more: { denied?: number; raging?: boolean } = {}) {
      const fromMs = world.nowMs
      world.nowMs += lengthMs
      return demandSince(fromMs, world.nowMs, more)
    },
  }
  return world
}

/** Returns the demand of 400 clients, of which some are denied, and of the scraper, which always is. */
export function demandSince(fromMs: number, toMs: number, { denied = 0, raging = false } = {}) {
  const crowd = between(400, 1, 80).map((client, i) => ({ ...client, wasDenied: i >= 400 - denied }))
  const retrying = raging ? crowd.map((each) => (each.wasDenied ? { ...each, peak: 50_000 } : each)) : crowd
  const scraper = { ...clients([9000])[0], identity: 'scraper', peak: 9000, weight: 1, wasDenied: true }
  return demandOf([...retrying, scraper], { limit: 200, fromMs, toMs })
}
