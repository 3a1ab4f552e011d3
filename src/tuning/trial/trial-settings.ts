import type { GivenDocument, LimitSettings, SettingsDocument } from '../../limiter/settings-document.js'
import type { Trial } from './trial.js'

type Part = Pick<Trial, 'limitName' | 'limit' | 'before'>

/** Returns what a document says about a limit; `null` for nothing. A limit may be called `constructor`. */
export function limitIn({ limits }: Pick<SettingsDocument, 'limits'>, name: string): LimitSettings | null {
  return Object.hasOwn(limits, name) ? (limits[name] ?? null) : null
}

/** Returns whether the document is as the trial left it when its candidate began to run. */
export function isWatched(document: SettingsDocument, trial: Part): boolean {
  return hasOwnCandidate(document, trial) && isSame(limitIn(document, trial.limitName), trial.before)
}

/** Returns whether the document is as the trial left it when it was promoted. */
export function isPromoted(document: SettingsDocument, trial: Part): boolean {
  return isSame(limitIn(document, trial.limitName), triedSettings(trial))
}

/**
 * Returns the document after the change that is due in a phase; `undefined` if another operator has
 * changed what the trial would change. Other parts, such as overrides, may have changed, and stay.
 */
export function changeDue(trial: Trial, document: SettingsDocument): GivenDocument | undefined {
  const { limitName, before } = trial
  const { candidate, ...rest } = document
  const tried = triedSettings(trial)
  if (trial.phase === 'starting') {
    if (candidate !== undefined || !isSame(limitIn(document, limitName), before)) return undefined
    return { ...rest, candidate: { limits: { [limitName]: tried } } }
  }
  if (trial.phase === 'promoting')
    return isWatched(document, trial) ? withLimit(rest, limitName, tried) : undefined
  if (trial.phase === 'reverting')
    return isPromoted(document, trial) ? withLimit(document, limitName, before) : undefined
  return hasOwnCandidate(document, trial) ? rest : undefined
}

/** Returns the settings of the limit on trial: those before it, with another number. */
export function triedSettings({ before, limit }: Part): LimitSettings {
  if (before?.policy !== 'tokenBucket') return { ...before, limit } as LimitSettings
  const { capacity, refill } = before
  return { ...before, capacity: limit, refill: Math.max(1, Math.round((refill * limit) / capacity)) }
}

function withLimit(
  document: Omit<SettingsDocument, 'candidate'>,
  name: string,
  settings: LimitSettings | null,
): GivenDocument {
  const others = Object.entries(document.limits).filter(([each]) => each !== name)
  const own = settings === null ? [] : [[name, settings] as const]
  return { ...document, limits: Object.fromEntries([...others, ...own]) }
}

function hasOwnCandidate({ candidate }: SettingsDocument, trial: Part): boolean {
  return isSame(candidate, { limits: { [trial.limitName]: triedSettings(trial) } })
}

/** Returns whether two values are the same as JSON, whatever the order of their fields. */
function isSame(a: unknown, b: unknown): boolean {
  return sortedJson(a) === sortedJson(b)
}

function sortedJson(value: unknown): string | undefined {
  return JSON.stringify(value, (_, each: unknown) => {
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each
    return Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
  })
}
