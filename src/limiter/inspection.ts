import type { Address } from '../keys/address.js'
import type { Embedding } from '../keys/embedded-ipv4.js'
import { request } from '../pipe/pipe.js'
import type { Store } from '../stores/store.js'
import { wrongKind } from '../util/validate.js'
import { isObject } from '../util/values.js'
import type { Listing } from './access-rules.js'
import type { CandidateClients } from './candidate/candidate-report.js'
import { type DescribedLimit, describeRules } from './description.js'
import type { MiddlewareLimiter } from './limiter.js'
import type { LimiterParts } from './limiter-methods.js'
import type { Entry } from './read-limits.js'
import type { LimiterSettings } from './read-options.js'
import type { Apply } from './receipt.js'
import type { Limit } from './resolve-parts.js'
import type { SettingsSource } from './settings-source.js'

/** What tools read of a limiter, such as the dashboard. */
export interface Inspection
  extends Pick<LimiterSettings, 'onStoreError' | 'fallbackShare' | 'limitsKey' | 'timeoutMs'> {
  /** The store as it was given. */
  readonly store: Store
  /** The `instance` of the limiter's messages on `headgate:store`; `undefined` if it publishes none. */
  readonly instance: object | undefined
  /** Applies an operation through the pipe. */
  readonly apply: Apply
  /** What every key of the limiter starts with. */
  readonly limiterScope: string
  readonly secret: string | undefined
  /** Whether identities stay in this process, and are written out without a `secret`. */
  readonly isLocal: boolean
  /**
   * Returns the address that a subject came from; `undefined` if it has none. Throws if its connection is gone.
   */
  readonly addressOf: (subject: unknown) => Address | undefined
  /** Where the limiter's document comes from: the option `settings`. */
  readonly source: SettingsSource | undefined
  /** The limits in the code, which apply where the document has no others, as its rules are made from. */
  readonly entries: readonly Entry[]
  /** Where the limiter finds IPv4 addresses in IPv6 ones. */
  readonly embeddings: readonly Embedding[]
  /** Returns the limits in the code for people. */
  readonly codeLimits: () => readonly DescribedLimit[]
  /** Returns the option that lists an address, in any spelling; `undefined` if none does. */
  readonly listingOf: (address: string) => Listing | undefined
  /**
   * The limits whose policy is always the same, and those that a function has returned so far. Several may
   * share the scope of their keys.
   */
  readonly limits: ReadonlyMap<string, Limit>
  /**
   * Returns hashes of the clients that `candidateReport` counts; `undefined` if there is no candidate.
   */
  readonly candidateClients: () => CandidateClients | undefined
  /** Returns the identities in keys of the clients that `candidateReport` lists. */
  readonly candidateIdentities: () => readonly string[]
}

/** Registered: a second copy of this package inspects the limiters of this one. */
const INSPECTION = Symbol.for('headgate.limiter.inspection')

/** Registers a limiter for inspection. The code that reads its parts is only in bundles of tools. */
export function registerForInspection<Subject>(limiter: object, parts: LimiterParts<Subject>): void {
  Object.defineProperty(limiter, INSPECTION, { value: parts })
}

/** Returns the parts of a limiter, or `undefined` for any other value. */
export function partsOf<Subject>(limiter: unknown): LimiterParts<Subject> | undefined {
  if (!isObject(limiter)) return undefined
  const { [INSPECTION]: parts }: { readonly [INSPECTION]?: LimiterParts<Subject> } = limiter
  return parts
}

/** Returns the parts of a limiter. Throws a `TypeError` that names `owner` for any other value. */
export function requirePartsOf<Subject>(owner: string, limiter: unknown): LimiterParts<Subject> {
  const parts = partsOf<Subject>(limiter)
  if (parts !== undefined) return parts
  const fix = 'Pass what createLimiter returns, or rateLimit(…).limiter.'
  throw wrongKind(owner, 'limiter', 'a limiter', limiter, fix)
}

/** Returns what tools read of a limiter; `undefined` if the value is not a limiter. */
export function inspectionOf(limiter: unknown): Inspection | undefined {
  const parts = partsOf(limiter)
  if (parts === undefined) return undefined
  const { settings, access, core } = parts
  const { limiterScope, secret, isLocal = false, limits } = settings.context
  return {
    store: settings.store,
    instance: 'instance' in core.store ? core.store.instance : undefined,
    limiterScope,
    secret,
    isLocal,
    addressOf: settings.context.reader,
    source: settings.source,
    entries: settings.entries,
    embeddings: settings.context.reader.embeddings,
    codeLimits: () => describeRules(settings).limits,
    listingOf: access.listingOf,
    limits,
    onStoreError: settings.onStoreError,
    fallbackShare: settings.fallbackShare,
    limitsKey: settings.limitsKey,
    timeoutMs: settings.timeoutMs,
    apply: (operation) => request(core.store, operation),
    candidateClients: () => parts.candidate?.figures.clients(),
    candidateIdentities: () => parts.candidate?.figures.identities() ?? [],
  }
}

/** Returns whether a value is a limiter from any copy of this package. */
export function isLimiter(value: unknown): value is MiddlewareLimiter<never> {
  return inspectionOf(value) !== undefined
}
