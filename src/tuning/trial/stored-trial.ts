import { isObject } from '../../util/values.js'
import type { Trial, TrialPhase } from './trial.js'

const PHASES: readonly TrialPhase[] = [
  'starting',
  'watching',
  'ready',
  'promoting',
  'guarding',
  'reverting',
  'stopping',
  'ended',
]

/** A trial as a store keeps it. `writer` is different in each write: it shows whose write a store holds. */
interface StoredTrial {
  readonly trial: Trial
  readonly writer: string
}

export function trialText(trial: Trial, writer: string): string {
  return JSON.stringify({ trial, writer } satisfies StoredTrial)
}

/** Returns what a text holds; `undefined` if that is not a trial of this version, such as a foreign value. */
export function readTrial(text: string | undefined): StoredTrial | undefined {
  const stored = parse(text ?? '')
  if (!isObject(stored) || typeof stored.writer !== 'string' || !isTrial(stored.trial)) return undefined
  return { trial: stored.trial, writer: stored.writer }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isTrial(value: unknown): value is Trial {
  if (!isObject(value)) return false
  const { id, limiter, limitName, origin, phase, before, apart, events } = value
  const numbers = [value.limit, value.watchMs, value.guardMs, value.maxHarmedShare, value.phaseSinceMs]
  return (
    [id, limiter, limitName].every((each) => typeof each === 'string') &&
    numbers.every((each) => Number.isFinite(each)) &&
    PHASES.some((each) => each === phase) &&
    (before === null || isObject(before)) &&
    isObject(origin) &&
    [apart, events].every((each) => Array.isArray(each))
  )
}
