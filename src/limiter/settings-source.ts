import { wrongKind } from '../util/validate.js'
import type { Mode } from './access-rules.js'
import type { LimiterCore } from './core.js'
import type { Entry } from './read-limits.js'
import type { LimiterSettings } from './read-options.js'

/** Registered: a limiter of one copy of this package follows the settings of another. */
export const FOLLOW: unique symbol = Symbol.for('headgate.settings') as never

/** Where the document of a limiter comes from: what `sharedSettings` or `settingsFile` returns. */
export interface SettingsSource {
  /** Lets a limiter of this package follow its document. */
  readonly [FOLLOW]: unknown
}

/** What the settings of this package have under `FOLLOW`. */
export type Follow = (limiter: FollowingLimiter) => FollowedSettings

/** The document that a limiter follows, and who changed it last, if that is recorded. */
export interface AppliedSettings {
  readonly version: string
  readonly by?: string
  readonly reason?: string
  /** In milliseconds since the Unix epoch. */
  readonly atMs?: number
}

/** What a document says of a limiter, for `limiter.describe`. */
export interface SettingsInForce {
  readonly applied: AppliedSettings
  readonly mode: Mode | undefined
  /** The names of the limits that the document has. */
  readonly limitNames: readonly string[]
  readonly entries: readonly Entry[]
  /** The limits of the document's candidate; `undefined` if it has none. */
  readonly candidate: readonly Entry[] | undefined
  readonly overrides: readonly object[]
}

/** A limiter, for its settings. */
export interface FollowingLimiter {
  readonly name: string
  readonly settings: LimiterSettings
  readonly core: LimiterCore
  /** Called when a document is in force. */
  onApplied(inForce: SettingsInForce): void
  /** Called for a document that cannot be read or is not valid. The last one stays in force. */
  onFailure(error: Error): void
}

/** What settings give to their limiter. */
export interface FollowedSettings {
  /** The core of the limiter, with the rules of its document. */
  readonly core: LimiterCore
  /** The same for `waitFor`. */
  readonly waitingCore: LimiterCore
  /** Returns the core of a candidate with these rules. */
  ruleCandidate(core: LimiterCore): LimiterCore
  /** Begins to follow. Returns the function that ends it. */
  start(): () => void
}

/** Lets a limiter follow its document. */
export function followSettings(source: SettingsSource, limiter: FollowingLimiter): FollowedSettings {
  return (source[FOLLOW] as Follow)(limiter)
}

/** Returns the option if settings are what it must be. Throws a `TypeError` for anything else. */
export function readSettings(owner: string, option: string, value: unknown): SettingsSource {
  if (typeof value === 'object' && value !== null && FOLLOW in value) return value as SettingsSource
  throw wrongKind(owner, option, 'settings', value, 'Write settings: sharedSettings(store).')
}
