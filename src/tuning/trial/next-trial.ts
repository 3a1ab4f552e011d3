import type { SettingsDocument } from '../../limiter/settings-document.js'
import type { LimitDemand } from '../client-demand.js'
import { harmedShare, standingBefore, standingSince, watchedFigures } from './standing.js'
import { step } from './step.js'
import type { Trial, TrialOrigin, TrialOutcome } from './trial.js'
import { isPromoted, isWatched } from './trial-settings.js'

/** How long a trial waits for approval, and for figures that do not come. */
export const PATIENCE_MS = 7 * 86_400_000
/** How much the clocks of processes may differ. */
const MAX_SKEW_MS = 60_000

/** What a trial sees when it may advance. */
export interface TrialInput {
  readonly nowMs: number
  /** The settings of the limiter. */
  readonly document: SettingsDocument
  /**
   * What clients demanded: of the limit in force while the candidate runs, and of the promoted limit, since
   * its promotion, afterwards. Absent if that is not known.
   */
  readonly demand?: LimitDemand
  /** What the candidate decided while it ran; absent if that is not known. */
  readonly candidate?: LimitDemand
}

/**
 * Returns a trial after its next step: once its time has passed, or if it has to end. Returns `undefined` if
 * nothing is to be done yet. Never changes a trial whose change of the settings is still due.
 */
export function nextTrial(trial: Trial, input: TrialInput): Trial | undefined {
  switch (trial.phase) {
    case 'watching':
      return isWatched(input.document, trial)
        ? afterWatching(trial, input)
        : stop(trial, 'overridden', input.nowMs)
    case 'ready':
      if (!isWatched(input.document, trial)) return stop(trial, 'overridden', input.nowMs)
      return endOf(trial, PATIENCE_MS) <= input.nowMs ? stop(trial, 'expired', input.nowMs) : undefined
    case 'guarding':
      if (!isPromoted(input.document, trial))
        return step({ ...trial, outcome: 'overridden' }, 'ended', input.nowMs)
      return afterGuarding(trial, input)
    default:
      return undefined
  }
}

/** Returns a trial once its change of the settings is made; also if an earlier attempt made it. */
export function afterChange(trial: Trial, nowMs: number): Trial {
  if (trial.phase === 'starting') return step(trial, 'watching', nowMs)
  if (trial.phase === 'promoting') return step(trial, 'guarding', nowMs)
  return step(trial, 'ended', nowMs)
}

/**
 * Returns a trial whose change of the settings must not be made, because another operator changed the same
 * part (`overridden`), or because the limiter cannot have this limit (`refused`).
 */
export function withoutChange(trial: Trial, outcome: 'overridden' | 'refused', nowMs: number): Trial {
  if (trial.phase === 'starting') return step({ ...trial, outcome }, 'ended', nowMs)
  if (trial.phase === 'promoting') return stop(trial, outcome, nowMs)
  if (trial.phase === 'reverting') return step({ ...trial, outcome }, 'ended', nowMs)
  return step(trial, 'ended', nowMs) // nothing of the trial is left to be removed
}

/** Returns a trial that an operator promotes. Throws a `TypeError` unless it is ready. */
export function approve(trial: Trial, origin: TrialOrigin, nowMs: number): Trial {
  if (trial.phase === 'ready') return step({ ...trial, origin }, 'promoting', nowMs, origin)
  const fix = trial.phase === 'watching' ? 'Wait until the candidate has run for its time.' : 'Start another.'
  throw new TypeError(`tune: the trial must be ready, but it is ${trial.phase}. ${fix}`)
}

/**
 * Returns a trial that an operator ends: the candidate is removed, or the limit is reverted. Returns `undefined`
 * if it is already ending.
 */
export function cancel(trial: Trial, origin: TrialOrigin, nowMs: number): Trial | undefined {
  const { phase } = trial
  if (phase === 'watching' || phase === 'ready') return stop({ ...trial, origin }, 'stopped', nowMs, origin)
  if (phase === 'guarding') return step({ ...trial, origin, outcome: 'stopped' }, 'reverting', nowMs, origin)
  if (isEnding(trial)) return undefined
  throw new TypeError(`tune: the trial is ${phase}, which takes a moment. Then stop it again.`)
}

function isEnding({ phase }: Trial): boolean {
  return phase === 'ended' || phase === 'stopping' || phase === 'reverting'
}

function stop(trial: Trial, outcome: TrialOutcome, nowMs: number, origin?: TrialOrigin): Trial {
  return step({ ...trial, outcome }, 'stopping', nowMs, origin)
}

function afterWatching(trial: Trial, { nowMs, demand, candidate }: TrialInput): Trial | undefined {
  const endMs = endOf(trial, trial.watchMs)
  if (nowMs >= endMs && demand !== undefined && demand.toMs >= endMs) {
    const decided = candidate !== undefined && candidate.toMs > trial.phaseSinceMs ? candidate : undefined
    const figures = {
      watched: watchedFigures(demand, decided, trial),
      standing: standingBefore(demand, trial),
    }
    return step({ ...trial, ...figures }, 'ready', nowMs)
  }
  return nowMs >= endMs + PATIENCE_MS ? stop(trial, 'expired', nowMs) : undefined
}

function afterGuarding(trial: Trial, { nowMs, demand }: TrialInput): Trial | undefined {
  const { standing, guardMs, maxHarmedShare } = trial
  const endMs = endOf(trial, guardMs)
  if (standing !== undefined && demand !== undefined && isSincePromotion(demand, trial)) {
    const since = standingSince(demand, trial, standing)
    const seen = { ...trial, guarded: since }
    if (harmedShare(standing, since) > maxHarmedShare)
      return step({ ...seen, outcome: 'reverted' }, 'reverting', nowMs)
    if (nowMs >= endMs && demand.toMs >= endMs) return step({ ...seen, outcome: 'kept' }, 'ended', nowMs)
  }
  // No process has reported what the limit does, so the previous one is safer.
  const isBlind = nowMs >= endMs + guardMs
  return isBlind ? step({ ...trial, outcome: 'expired' }, 'reverting', nowMs) : undefined
}

/**
 * Returns whether a demand begins with the promotion. The limit may have been in force earlier, but not while
 * it ran as a candidate.
 */
function isSincePromotion({ fromMs }: LimitDemand, { events, phaseSinceMs, watchMs }: Trial): boolean {
  const { atMs } = events.findLast(({ details }) => details.phase === 'promoting') ?? { atMs: phaseSinceMs }
  return fromMs >= atMs - Math.min(watchMs, MAX_SKEW_MS)
}

function endOf({ phaseSinceMs }: Trial, lengthMs: number): number {
  return phaseSinceMs + lengthMs
}
