import { given, keyName, oneOf, show, wholeNumber, wrongOption } from './checks.js'
import { readStore } from './claimed-store.js'
import { type Duration, durationMs } from './durations.js'
import type { StoreError } from './errors.js'
import type { KeyFunction } from './keys/key.js'
import { type MaybePromise, whenKnown } from './maybe-promise.js'
import type { LimiterOptions, StoreErrorChoice } from './options.js'
import { type Limit, type LimitContext, readEntries, readKeys, readLimit, sourceOf } from './read-limits.js'
import { readLease } from './stores/lease/lease-options.js'
import type { LeaseSettings } from './stores/lease/leased.js'
import { isMemoryStore } from './stores/memory/memory-store.js'
import type { Store } from './stores/store.js'

/** A limiter's options, read and checked. */
export interface LimiterSettings {
  readonly limits: readonly Limit[]
  readonly store: Store
  readonly timeoutMs: number
  readonly share: number
  /** 0 = none. */
  readonly denyCacheMs: number
  readonly lease: LeaseSettings | undefined
  /** A key that nobody charges. */
  readonly healthKey: string
  readonly chooseOnStoreError: (error: StoreError, subject: unknown) => MaybePromise<StoreErrorChoice>
}

const STATE_VERSION = 1
/** In keys, where a limiter has no name. No name begins with an underscore, and none holds a slash. */
const UNNAMED = '_default'
const CHOICES: readonly StoreErrorChoice[] = ['allow', 'deny', 'local']

/** Reads and checks a limiter's options. Throws a `TypeError` that names the option and the mend. */
export function readLimiterOptions<Subject>(
  owner: string,
  options: LimiterOptions<Subject>,
  denyCache: Duration = '1s',
): LimiterSettings {
  const name = options.name === undefined ? undefined : keyName(owner, 'name', options.name)
  const prefix = keyName(owner, 'prefix', given(options.prefix, 'hg'))
  const secret = readSecret(owner, options.secret)
  const keyHead = `${prefix}:${STATE_VERSION}:${name ?? UNNAMED}`
  const entries = readEntries(owner, options)
  const keys = entries.map((entry) => readKeys(entry.owner, entry.key))
  const context: LimitContext = { keyHead, secret, source: sourceOf(owner, keys.flat()) }
  const limits = entries.map((entry, i) => readLimit(context, entry, keys[i] as readonly KeyFunction[], name))
  const timeoutMs = wholeNumber(owner, 'timeoutMs', given(options.timeoutMs, 100), 1, 60_000)
  const chooseOnStoreError = readChoice(owner, given(options.onStoreError, 'allow'))
  const share = readShare(owner, options)
  const denyCacheMs = readDenyCache(owner, given(options.denyCache, denyCache))
  const lease = readLease(owner, options.lease)
  if (lease !== undefined) checkLeasable(owner, options.store, entries.length)
  const store = readStore(owner, options.store, name, prefix) // last: only sound options lay claim to a store
  return {
    limits,
    store,
    timeoutMs,
    share,
    denyCacheMs,
    lease,
    healthKey: `${prefix}:${STATE_VERSION}:health`,
    chooseOnStoreError,
  }
}

function checkLeasable(owner: string, store: Store | undefined, limits: number): void {
  if (store === undefined || isMemoryStore(store)) {
    throw new TypeError(
      `${owner}: lease is for a store that is shared, such as redisStore(client): memory answers at once. Leave lease out.`,
    )
  }
  if (limits > 1) {
    throw new TypeError(
      `${owner}: lease is for one limit: several are decided together by the store. Leave lease out, or make a limiter of each.`,
    )
  }
}

/** Checks a secret, without ever showing it. */
export function readSecret(owner: string, secret: unknown): string | undefined {
  if (secret === undefined || (typeof secret === 'string' && secret.length >= 16)) return secret
  const isNumber = typeof secret === 'number' || typeof secret === 'bigint' // never show the secret itself
  const shown = typeof secret === 'string' ? `one of ${secret.length}` : isNumber ? 'a number' : show(secret)
  const must = `secret must be a string of at least 16 characters, got ${shown}`
  throw new TypeError(`${owner}: ${must}. Make one with: openssl rand -hex 32.`)
}

function readShare(
  owner: string,
  { share = 1, onStoreError }: Pick<LimiterOptions<never>, 'share' | 'onStoreError'>,
): number {
  if (typeof share !== 'number' || !(share > 0 && share <= 1)) {
    throw wrongOption(
      owner,
      'share',
      'a number above 0 and at most 1',
      share,
      'With four processes write share: 1 / 4.',
    )
  }
  if (share < 1 && onStoreError !== 'local' && typeof onStoreError !== 'function') {
    throw new TypeError(
      `${owner}: share is for onStoreError: 'local', which stands in for the store. Give that, or leave share out.`,
    )
  }
  return share
}

function readDenyCache(owner: string, denyCache: unknown): number {
  if (denyCache === false) return 0
  if (typeof denyCache === 'boolean')
    throw wrongOption(owner, 'denyCache', 'a duration or false', denyCache, "It is on by itself, for '1s'.")
  return durationMs(owner, 'denyCache', denyCache)
}

function readChoice(owner: string, value: unknown): LimiterSettings['chooseOnStoreError'] {
  const check = (choice: unknown) => oneOf(owner, 'onStoreError', choice, CHOICES)
  if (typeof value === 'function') return (error, subject) => whenKnown(value(error, subject), check)
  const choice = check(value)
  return () => choice
}
