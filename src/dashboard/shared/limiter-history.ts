import type { Documents } from '../../stores/documents.js'
import { asStoreError } from '../../stores/store-error.js'
import type { LimitDemand } from '../../tuning/client-demand.js'
import { nameHash } from '../../util/distinct-names.js'
import { timeout } from '../../util/timeout.js'
import type { LimiterWatch } from '../figures/limiter-watch.js'
import type { LimiterReport } from '../figures/report.js'
import { withDemands } from './demand/add-demands.js'
import { DEMAND_CODEC } from './demand/demand-codec.js'
import { demandKey } from './demand/demand-document.js'
import { demandsOf } from './demand/read-demands.js'
import { HISTORY_CODEC, withSteps } from './history-document.js'
import { sharedDocument } from './shared-document.js'
import { type FinishedStep, SLOTS_PER_STEP, STEP_MS, type StepCounts, StepQueue, stepsOf } from './steps.js'

/** Processes add a step within this time after its end, so that they rarely compete. */
const SPREAD_MS = 60_000
/** How long a reader waits. The documents of many limiters may be read at once. */
const READ_MS = 5000

const withinRead = timeout(READ_MS)

/** What all processes have counted of a limiter, in a store. */
export interface LimiterHistory {
  /** Adds the steps that are over, if it is time. Rejects if the store fails: they are added later. */
  add(nowMs: number): Promise<void>
  /** Adds all that is counted, when counting ends. */
  close(nowMs: number): Promise<void>
  /**
   * Adds the steps that another process has reported, and not added before it ended. Resolves with whether the
   * history has them now.
   */
  adopt(process: string, report: Pick<LimiterReport, 'traffic'>): Promise<boolean>
  /** Reads the steps of the last 50 hours, in order. Rejects with a `StoreError` if the store fails or hangs. */
  steps(): Promise<readonly StepCounts[]>
  /** Reads what clients asked for in the last 12 to 24 hours. Rejects as `steps` does. */
  demands(): Promise<readonly LimitDemand[]>
}

/** Creates the history of a limiter, to which this process adds what it counts. */
export function limiterHistory(
  documents: Documents,
  prefix: string,
  watch: LimiterWatch,
  process: string,
  nowMs: number,
): LimiterHistory {
  const queue = new StepQueue(watch, nowMs)
  const history = sharedDocument(documents, `${prefix}:dashboard:history/${watch.name}`, HISTORY_CODEC)
  const demands = sharedDocument(documents, demandKey(prefix, watch.name), DEMAND_CODEC)
  const delayMs = nameHash(`${process} ${watch.name}`) % SPREAD_MS
  const { name: store } = watch.inspection.store
  const readHistory = sharedRead(store, () => history.read())
  const readDemands = sharedRead(store, () => demands.read())

  return {
    async add(now) {
      const finished = queue.take(now)
      if (finished.length === 0 || now % STEP_MS < delayMs) return
      await addAll(finished)
    },
    async close(now) {
      const finished = queue.take(now, true)
      if (finished.length > 0) await addAll(finished)
    },
    async adopt(ended, { traffic }) {
      const endStep = Math.floor(traffic.lastSlot / SLOTS_PER_STEP) + 1
      const left = stepsOf(traffic, endStep).filter(({ allowed, denied }) => allowed + denied > 0)
      return left.length === 0 || history.change((before) => withSteps(before, ended, left))
    },
    steps: async () => (await readHistory())?.steps ?? [],
    async demands() {
      const found = await readDemands()
      return found === undefined ? [] : demandsOf(found)
    },
  }

  /** Each document knows what this process has added, so that a lost reply doubles nothing. */
  async function addAll(finished: readonly FinishedStep[]): Promise<void> {
    const source = queue.setBacks === 0 ? process : `${process}/${queue.setBacks}`
    const isCounted = await history.change((before) => withSteps(before, source, finished))
    const isDemanded = await demands.change((before) => withDemands(before, source, finished))
    if (isCounted && isDemanded) queue.added(finished)
  }
}

/** Returns a read that ends in time, and that readers at the same time share: a store that hangs would collect them. */
function sharedRead<T>(store: string, read: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined
  return async () => {
    pending ??= withinRead(read()).finally(() => {
      pending = undefined
    })
    return pending.catch((error) => {
      throw asStoreError(store, error)
    })
  }
}
