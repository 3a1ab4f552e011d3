import type { Mode } from '../../limiter/access-rules.js'
import type { BanOptions } from '../../policies/ban.js'
import type { ConcurrencyOptions } from '../../policies/concurrency.js'
import type { ConsecutiveOptions } from '../../policies/consecutive.js'
import type { FixedWindowOptions } from '../../policies/fixed-window.js'
import type { QuotaOptions } from '../../policies/quota-options.js'
import type { SlidingLogOptions } from '../../policies/sliding-log.js'
import type { SlidingWindowOptions } from '../../policies/sliding-window.js'
import type { TokenBucketOptions } from '../../policies/token-bucket.js'
import type { Duration } from '../../util/durations.js'

/** Other numbers for a limit, which keeps its policy. What is left out stays as it is. */
interface NewNumbers {
  readonly limit?: number
  readonly window?: Duration
  readonly policy?: undefined
}

/** Another policy for a limit: the name of its factory, and the options of that. */
type PolicyAs<Name extends string, Options> = { readonly policy: Name } & Readonly<Omit<Options, 'name'>>

/** A quota, whose options depend on `per`. */
type QuotaAs = QuotaOptions extends infer Options
  ? Options extends QuotaOptions
    ? PolicyAs<'quota', Options>
    : never
  : never

/** A policy as data, perhaps within a ban. */
type NewPolicy = (
  | PolicyAs<'tokenBucket', TokenBucketOptions>
  | PolicyAs<'slidingWindow', SlidingWindowOptions>
  | PolicyAs<'slidingLog', SlidingLogOptions>
  | PolicyAs<'fixedWindow', FixedWindowOptions>
  | QuotaAs
  | PolicyAs<'consecutive', ConsecutiveOptions>
  | PolicyAs<'concurrency', ConcurrencyOptions>
) & { readonly ban?: Readonly<BanOptions> }

/** What a document says of a limit: other numbers, or another policy. */
export type LimitSettings = NewNumbers | NewPolicy

/** Limits by name. An unnamed limit has the name of its limiter. */
export type LimitsByName = Readonly<Record<string, LimitSettings>>

/** An exception for one identity, for a prefix of identities, or for an IP network. */
export interface SettingsOverride {
  /**
   * The identity as the key function returns it. For a limit of several keys, an array of what they return.
   */
  identity?: string | readonly string[]
  /** What identities begin with; for a limit of several keys, the first of them. */
  identityPrefix?: string
  /** An IP address or a CIDR range, compared with the address that `allow` and `block` see. */
  network?: string
  /** Other limits. Those not named are as for all others. */
  limits?: LimitsByName
  /** Allows without counting. */
  exempt?: true
  /** Denies, as the option `block` does: middleware responds 403. */
  block?: true
  /** When it ends: a time such as `'2026-12-31T00:00:00Z'`, or milliseconds since the Unix epoch. */
  until?: string | number
}

/** What a limiter follows. What a document leaves out is as the code says. */
export interface SettingsDocument {
  mode?: Mode
  limits: Record<string, LimitSettings>
  /** Limits to try beside those in force. Those not named are as they are in force. */
  candidate?: { limits: Record<string, LimitSettings> }
  overrides: SettingsOverride[]
}

/** A document as it is written: all of it may be left out. */
export type GivenDocument = Partial<SettingsDocument>

/** Who changed a document, when and why. */
export interface SettingsChange {
  readonly by: string
  readonly reason: string
  /** In milliseconds since the Unix epoch, by the clock of the process that made the change. */
  readonly atMs: number
}
