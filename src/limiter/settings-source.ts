import { wrongKind } from '../util/validate.js'
import { isFunction, isObject } from '../util/values.js'
import type { Mode } from './access-rules.js'
import type { createCandidate } from './candidate/candidate.js'
import type { LimiterCore } from './core.js'
import type { LimiterDescription } from './description.js'
import type { Entry } from './read-limits.js'
import type { SettingsChange } from './settings-document.js'

/** Shared by copies of the package, so that a limiter of one copy follows the settings of another. */
export const FOLLOW: unique symbol = Symbol.for('headgate.settings') as never

/** Where the document of a limiter comes from: what `sharedSettings` or `settingsFile` returns. */
export interface SettingsSource {
  /** Allows a limiter of this package to follow its document. */
  readonly [FOLLOW]: unknown
}

/** The value of the property `FOLLOW`. */
export interface DocumentSource {
  /** Lets a limiter follow its document. */
  follow(limiter: FollowingLimiter): FollowedSettings
  /**
   * On isolates, where no timer runs between requests, called before each charge, which awaits the promise.
   */
  readonly pollIfDue?: (() => Promise<void> | undefined) | undefined
}

/** The document that a limiter follows, and who changed it last. A file does not record who changed it. */
export interface AppliedSettings {
  readonly version: string
  readonly by?: string
  readonly reason?: string
  /** When it was changed, in milliseconds since the Unix epoch. */
  readonly atMs?: number
}

/** A limiter, as its settings see it. */
export interface FollowingLimiter {
  /** The core whose limits the document replaces. */
  readonly core: LimiterCore
  /** Called when the limits of the candidate have changed. `entries` is `undefined` if there is none. */
  useCandidate(entries: readonly Entry[] | undefined): void
  /** Called when a document has come into force, before its candidate is used. */
  onRulesChanged(): void
  /** Called when all of a document has come into force. */
  onApplied(applied: AppliedSettings): void
  /** Called if a document cannot be read or is invalid. The last valid one stays in force. */
  onFailure(error: Error): void
}

/** What settings return to the limiter that follows them. */
export interface FollowedSettings {
  /** Creates the candidate of a document. */
  readonly createCandidate: typeof createCandidate
  /** Lets a candidate charge by the candidate's rules in the document. */
  ruleCandidate(core: LimiterCore): void
  /** Returns the mode of the document in force; `undefined` if it has none. */
  mode(): Mode | undefined
  /** Returns a description of the rules in the code with those of the document in force. */
  describe(description: LimiterDescription): LimiterDescription
  /** Starts to follow the document. Returns a function that stops. */
  start(): () => void
}

/** Returns where a limiter's document comes from. */
export function documentSourceOf(source: SettingsSource): DocumentSource {
  return source[FOLLOW] as DocumentSource
}

/** Returns the value if it is settings. Throws a `TypeError` for anything else. */
export function readSettings(owner: string, option: string, value: unknown): SettingsSource {
  if (isObject(value) && FOLLOW in value) return value as SettingsSource
  throw wrongKind(
    owner,
    option,
    'what sharedSettings or settingsFile returns',
    value,
    'Write settings: sharedSettings(store).',
  )
}

/** Settings that can be changed, and whose changes are recorded: those of `sharedSettings`. */
export interface ChangeableSettings extends SettingsSource {
  changes(name: string): Promise<readonly SettingsChange[]>
}

/** Returns settings that record their changes; `undefined` for others, and for none. */
export function inspectSettings(source: SettingsSource | undefined): ChangeableSettings | undefined {
  return source !== undefined && 'changes' in source && isFunction(source.changes)
    ? (source as ChangeableSettings)
    : undefined
}
