import {
  addressKey,
  addressReader,
  addressReaderAmong,
  expressReader,
  type ReportedReader,
  requestIdentity,
} from '../keys/source-address.js'
import { foreignFixes } from '../options/foreign-options.js'
import { exemption, optional, readOptions, type Settings, withDefault } from '../options/option-table.js'
import { MIDDLEWARE_OPTIONS, placementFixes } from '../options/placements.js'
import { limitsKey } from '../pipe/limits-document.js'
import type { Pipe } from '../pipe/pipe.js'
import { readStore } from '../pipe/read-store.js'
import { localStatesOf } from '../stores/shared/local-states.js'
import type { Store } from '../stores/store.js'
import type { StoreError } from '../stores/store-error.js'
import { durationMs, durationUpTo } from '../util/durations.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { choice, keyName, showKind, wrongOption, wrongUse } from '../util/validate.js'
import { ACCESS_ROWS, accessRules, type ModeSwitch, type Skip } from './access-rules.js'
import { readCandidateOption } from './candidate-source.js'
import { type ClaimedStore, claimStore } from './claimed-store.js'
import type { LimiterOptions, StoreErrorChoice } from './options.js'
import { ENTRIES_RULE, type Entry, LIMIT_ROWS, limitsRow, namesOf } from './read-limits.js'
import type { LimitContext } from './resolve-parts.js'
import { readSettings } from './settings-source.js'
import { registerName } from './shared-name.js'

/** The version of the state format. It is part of every key, so that no other format is ever read. */
const STATE_VERSION = 3
/**
 * Replaces the name in keys of an unnamed limiter. No name begins with an underscore or contains a slash.
 */
const UNNAMED = '_default'
/** The time-out for a store without `defaultTimeoutMs`. */
const DEFAULT_TIMEOUT_MS = 100

/** The options of a limiter. */
export const LIMITER_ROWS = {
  ...LIMIT_ROWS,
  ...ACCESS_ROWS,
  skip: exemption<Skip>,
  candidate: optional(readCandidateOption),
  settings: optional(readSettings),
  store: optional(readStore),
  name: optional(keyName),
  prefix: withDefault('hg', keyName),
  secret: optional(readSecret),
  onStoreError: withDefault('local', readChoice),
  fallbackShare: withDefault(1, readShare),
  denyCache: optional(readDenyCache),
  timeout: optional(durationUpTo('1m')),
}

/** Rules that read several options together. */
export const LIMITER_RULES = {
  entries: ENTRIES_RULE,
  settingsCheck: { from: ['settings', 'name'], read: checkName },
  shareCheck: { from: ['fallbackShare', 'onStoreError'], read: checkShare },
} as const

const limiterTable = () => ({
  rows: { ...LIMITER_ROWS, limits: limitsRow(foreignFixes()) },
  rules: LIMITER_RULES,
  fixes: { ...foreignFixes(), ...placementFixes(MIDDLEWARE_OPTIONS, 'in the options of rateLimit') },
})

/** Puts a pipe that tracks the units of undecided requests in front of another one. */
type TrackUndecided = (pipe: Pipe, store: Store) => Pipe

type LimiterRows = Settings<typeof LIMITER_ROWS>

/** Reads and checks a limiter's options. Throws a `TypeError` that names each wrong option and its fix. */
export function readLimiterOptions<Subject>(
  owner: string,
  options: LimiterOptions<Subject>,
): LimiterSettings {
  return limiterSettings(owner, readOptions(owner, options, limiterTable()), 1000, expressReader())
}

/** A limiter's options, read and checked. */
export type LimiterSettings = ReturnType<typeof limiterSettings>

/** Returns a limiter's settings, and claims its store. `readReported` reads the address that the framework reports. */
export function limiterSettings(
  owner: string,
  read: LimiterRows & { readonly entries: readonly Entry[] },
  defaultDenyCacheMs: number,
  readReported: ReportedReader,
) {
  const { name, prefix, secret, fallbackShare, entries, onStoreError, mode, candidate } = read
  for (const limitName of namesOf(entries, name) ?? []) keyName(owner, 'policy.name', limitName)
  const limiterScope = `${prefix}:${STATE_VERSION}:${name ?? UNNAMED}`
  const usualReader = addressReader(readReported)
  const reader = addressReaderAmong(entries, usualReader)
  const modeSwitch: ModeSwitch = { mode }
  const context: LimitContext = {
    limiterScope,
    name,
    secret,
    readAddress: requestIdentity(reader),
    reader,
    usualKey: addressKey(usualReader),
    isLocal: read.store === undefined || localStatesOf(read.store) !== undefined,
    limits: new Map(),
  }
  return {
    entries,
    /** Whether a charge may take units of `concurrency`. */
    canHold: entries.some(({ policy }) => typeof policy === 'function' || policy.holdsUnits),
    context,
    candidate: candidate?.entriesBeside(entries),
    createCandidate: candidate?.create,
    /** Where the limiter's document comes from. */
    source: read.settings,
    /** The lists of addresses as they were given. */
    lists: { allow: read.allow ?? [], block: read.block ?? [] },
    modeSwitch,
    access: accessRules(owner, read, reader, modeSwitch),
    timeoutMs: read.timeout ?? read.store?.defaultTimeoutMs ?? DEFAULT_TIMEOUT_MS,
    fallbackShare,
    /** 0 turns the cache off. */
    denyCacheMs: read.denyCache ?? defaultDenyCacheMs,
    /** The key that `health` peeks at. Nothing is ever charged to it. */
    healthKey: `${prefix}:${STATE_VERSION}:health`,
    /** The key of the document with the numbers of the limits. */
    limitsKey: limitsKey(prefix, name ?? UNNAMED),
    onStoreError,
    /** Tracks the units of undecided requests. Absent if the outcome of each request is known at once. */
    trackUndecided: undefined as TrackUndecided | undefined,
    /** Whether the limiter created its store, so that no other limiter can use it. */
    isOwnStore: read.store === undefined,
    ...claimStoreOrName(owner, read, context), // last: only valid options claim a store
  }
}

/** Claims the store of an unnamed limiter, or registers the name of a limiter at the store. */
function claimStoreOrName(
  owner: string,
  { store, name, prefix, entries }: LimiterRows & { readonly entries: readonly Entry[] },
  context: LimitContext,
): ClaimedStore {
  const claimed = claimStore(owner, store, name, prefix)
  if (store === undefined || name === undefined) return claimed
  return { ...claimed, releaseStore: registerName(owner, store, entries, context) }
}

/** Returns a secret. Throws a `TypeError`, which never shows it, for one that is too short. */
export function readSecret(owner: string, _option: string, secret: unknown): string {
  if (typeof secret === 'string' && secret.length >= 16) return secret
  const shown = typeof secret === 'string' ? `a string of ${secret.length} characters` : showKind(secret)
  const problem = `secret must be a string of at least 16 characters, got ${shown}`
  throw wrongUse(owner, problem, 'Generate one with: openssl rand -hex 32.')
}

function readShare(owner: string, option: string, share: unknown): number {
  if (typeof share === 'number' && share > 0 && share <= 1) return share
  const must = 'a number above 0 and at most 1'
  throw wrongOption(owner, option, must, share, 'With four processes, write fallbackShare: 1 / 4.')
}

function checkShare(
  owner: string,
  { fallbackShare, onStoreError }: Pick<LimiterRows, 'fallbackShare' | 'onStoreError'>,
): void {
  if (fallbackShare === 1 || onStoreError === 'local' || typeof onStoreError === 'function') return
  const problem = "fallbackShare applies only with onStoreError: 'local' or a function"
  throw wrongUse(owner, problem, 'Set onStoreError, or leave fallbackShare out.')
}

function checkName(owner: string, { settings, name }: Pick<LimiterRows, 'settings' | 'name'>): void {
  if (settings === undefined || name !== undefined) return
  throw wrongOption(
    owner,
    'name',
    'given with settings',
    name,
    "Write name: 'api', the name of the document.",
  )
}

function readDenyCache(owner: string, option: string, denyCache: unknown): number {
  if (denyCache === 0)
    throw wrongOption(owner, option, 'a duration or false', denyCache, 'Did you mean denyCache: false?')
  return denyCache === false ? 0 : durationMs(owner, option, denyCache)
}

type GivenChoice =
  | StoreErrorChoice
  | ((error: StoreError, subject: unknown) => MaybePromise<StoreErrorChoice>)

const checkChoice = choice<StoreErrorChoice>('allow', 'deny', 'local')

/** Returns a choice, or a function whose result is checked each time. */
function readChoice(owner: string, option: string, value: unknown): GivenChoice {
  if (typeof value !== 'function') return checkChoice(owner, option, value)
  const check = (given: unknown) => checkChoice(owner, option, given)
  return (error, subject) => thenMaybe(value(error, subject), check)
}
