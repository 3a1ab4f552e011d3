import type { BanOptions } from '../policies/ban.js'
import type { ConcurrencyOptions } from '../policies/concurrency.js'
import type { ConsecutiveOptions } from '../policies/consecutive.js'
import type { FixedWindowOptions } from '../policies/fixed-window.js'
import type { QuotaOptions } from '../policies/quota-options.js'
import type { SlidingLogOptions } from '../policies/sliding-log.js'
import type { SlidingWindowOptions } from '../policies/sliding-window.js'
import type { TokenBucketOptions } from '../policies/token-bucket.js'
import type { Duration } from '../util/durations.js'
import type { Mode } from './access-rules.js'

/** New numbers for a limit, which keeps its policy. Numbers that you leave out stay the same. */
interface NewNumbers {
  readonly limit?: number
  readonly window?: Duration
  readonly policy?: undefined
}

/** Another policy for a limit: the name of a factory, and the factory's options. */
type PolicyAs<Name extends string, Options> = { readonly policy: Name } & Readonly<Omit<Options, 'name'>>

/** A quota. Its options depend on `per`. */
type QuotaAs = QuotaOptions extends infer Options
  ? Options extends QuotaOptions
    ? PolicyAs<'quota', Options>
    : never
  : never

/** A policy as data, with or without a ban around it. */
type NewPolicy = (
  | PolicyAs<'tokenBucket', TokenBucketOptions>
  | PolicyAs<'slidingWindow', SlidingWindowOptions>
  | PolicyAs<'slidingLog', SlidingLogOptions>
  | PolicyAs<'fixedWindow', FixedWindowOptions>
  | QuotaAs
  | PolicyAs<'consecutive', ConsecutiveOptions>
  | PolicyAs<'concurrency', ConcurrencyOptions>
) & { readonly ban?: Readonly<BanOptions> }

/** How a document changes a limit: new numbers, or another policy. */
export type LimitSettings = NewNumbers | NewPolicy

/** Limits by name. An unnamed limit has the name of its limiter. */
export type LimitsByName = Readonly<Record<string, LimitSettings>>

/** An exception for one identity, for a prefix of identities, or for an IP network. */
export interface SettingsOverride {
  /**
   * The identity, as the key function of the limit returns it. If the limit has several keys, an array with
   * the value of each.
   */
  identity?: string | readonly string[]
  /**
   * The identity as stores keep it, often a hash, as decisions, logs and the dashboard show it. It precedes
   * the other overrides of a client, also those by `identity`.
   */
  storedIdentity?: string
  /**
   * The start of all identities that the override is for. If the limit has several keys, it is compared with
   * the value of the first.
   */
  identityPrefix?: string
  /** An IP address or a CIDR range. It is compared with the same address as `allow` and `block` are. */
  network?: string
  /** Changes to limits. Limits that are not named stay the same as for everyone. */
  limits?: LimitsByName
  /** Allows every charge without counting it. */
  exempt?: true
  /** Denies every charge, as the option `block` does. Middleware responds with 403. */
  block?: true
  /**
   * When the override ends: a time such as `'2026-12-31T00:00:00Z'`, or milliseconds since the Unix epoch.
   */
  until?: string | number
}

/** The document that a limiter follows. For everything that it leaves out, the code decides. */
export interface SettingsDocument {
  mode?: Mode
  limits: Record<string, LimitSettings>
  /**
   * Limits to try without enforcing them. For a limit that you leave out, the candidate uses the one in
   * force.
   */
  candidate?: { limits: Record<string, LimitSettings> }
  overrides: SettingsOverride[]
}

/** A document as it is written: every field is optional. */
export type GivenDocument = Partial<SettingsDocument>

/** A value that a part of a document may have. */
export type PartValue = Mode | LimitSettings | { readonly limits: LimitsByName } | SettingsOverride

/** A part of a document that a change added, removed or replaced. */
export interface ChangedPart {
  /**
   * `mode`, `candidate`, `limits.` and the name of a limit, or an override by its target, such as
   * `overrides[identity="user:acme"]`.
   */
  readonly path: string
  /** The value before the change. Absent if the document did not have the part. */
  readonly before?: PartValue
  /** The value after the change. Absent if the change removed the part. */
  readonly after?: PartValue
}

/** Who changed a document, when and why. */
export interface ChangeNote {
  readonly by: string
  readonly reason: string
  /**
   * When the change was made, in milliseconds since the Unix epoch, by the clock of the process that made
   * it.
   */
  readonly atMs: number
}

/** A change to a document: who made it, when, why, and what it changed. */
export interface SettingsChange extends ChangeNote {
  readonly id: string
  /**
   * What the change changed. Absent if there was no room to keep it. Also absent if an earlier version of
   * headgate made the change, or if the document before could not be read.
   */
  readonly parts?: readonly ChangedPart[]
  /** How many parts the change changed, even if there was no room to keep them. */
  readonly partCount?: number
  /** The `id` of the change that this one undid. */
  readonly undoes?: string
}
