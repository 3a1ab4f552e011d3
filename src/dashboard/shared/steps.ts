import type { LimitDemands } from '../figures/limit-figures.js'
import type { LimiterWatch } from '../figures/limiter-watch.js'
import type { TrafficReport } from '../figures/report.js'
import { allSlots, SLOT_MS } from '../figures/traffic.js'

/** The length of a step of the history. */
export const STEP_MS = 300_000
export const SLOTS_PER_STEP = STEP_MS / SLOT_MS
/** The most steps that wait for a store that fails: a day. */
const MAX_PENDING = 288
/** Of how many of them the demands of clients are kept. */
const MAX_DEMANDS = 3
/** If the clock is set back by more steps, no slot of the traffic has been counted before. */
const SET_BACK_STEPS = 4

/** The counts of a step. */
export interface StepCounts {
  /** Its start since the Unix epoch, divided by its length. */
  readonly step: number
  readonly allowed: number
  readonly denied: number
}

/** Returns the steps before `endStep` that traffic covers from their start on. */
export function stepsOf(traffic: TrafficReport, endStep: number): readonly StepCounts[] {
  const { allowed, denied } = allSlots(traffic)
  const firstSlot = traffic.lastSlot - allowed.length + 1
  const first = Math.ceil(firstSlot / SLOTS_PER_STEP)
  return Array.from({ length: Math.max(0, endStep - first) }, (_, i) => {
    const from = (first + i) * SLOTS_PER_STEP - firstSlot
    const sum = (counts: readonly number[]) =>
      counts.slice(from, from + SLOTS_PER_STEP).reduce((total, count) => total + count, 0)
    return { step: first + i, allowed: sum(allowed), denied: sum(denied) }
  })
}

/** What a limiter has counted in a process in a step that is over. */
export interface FinishedStep extends StepCounts {
  readonly demands: readonly LimitDemands[]
}

/** The steps of a limiter that are over, and not yet in the history. */
export class StepQueue {
  readonly #watch: LimiterWatch
  #next: number
  #finished: readonly FinishedStep[] = []
  #setBacks = 0

  constructor(watch: LimiterWatch, nowMs: number) {
    this.#watch = watch
    this.#next = Math.floor(nowMs / STEP_MS)
  }

  /** How often the clock was set back so far that steps come again, with other counts. */
  get setBacks(): number {
    return this.#setBacks
  }

  /**
   * Takes the steps that are over. Call it at least every 10 minutes. A clock that steps back takes none. The last
   * time, the step that has begun is taken also.
   */
  take(nowMs: number, isLast = false): readonly FinishedStep[] {
    const current = Math.floor(nowMs / STEP_MS) + (isLast ? 1 : 0)
    if (current < this.#next - 1) this.#setBack(current)
    if (current <= this.#next) return this.#finished
    const steps = stepsOf(this.#watch.report(0, 0).traffic, current).filter(({ step }) => step >= this.#next)
    const demands = this.#watch.takeDemands()
    const taken = steps.map((each) => ({ ...each, demands: each.step === current - 1 ? demands : [] }))
    this.#next = current
    this.#finished = withFewDemands([...this.#finished, ...taken].slice(-MAX_PENDING))
    return this.#finished
  }

  /** The steps that still wait were at wrong times. */
  #setBack(current: number): void {
    if (this.#next - current > SET_BACK_STEPS) {
      this.#setBacks++
      this.#finished = []
    }
    this.#next = current
  }

  /** Drops the steps that are in the history now. */
  added(steps: readonly FinishedStep[]): void {
    const added = new Set(steps.map(({ step }) => step))
    this.#finished = this.#finished.filter(({ step }) => !added.has(step))
  }
}

function withFewDemands(steps: readonly FinishedStep[]): readonly FinishedStep[] {
  const first = steps.length - MAX_DEMANDS
  return steps.map((step, i) => (i < first && step.demands.length > 0 ? { ...step, demands: [] } : step))
}
