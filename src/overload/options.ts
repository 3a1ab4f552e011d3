import { type DenialOptions, MIDDLEWARE_ROWS, type RequestFields } from '../http/options.js'
import { optional, type Settings, withDefault } from '../options/option-table.js'
import { isStore } from '../stores/shared/validate.js'
import type { Store } from '../stores/store.js'
import { type Duration, durationUpTo } from '../util/durations.js'
import type { FrameworkTypes } from '../util/framework-types.js'
import { keyName, whole, wrongKind, wrongOption, wrongUse } from '../util/validate.js'
import type { Priority } from './cohorts.js'
import { syncFunction } from './option-functions.js'

/** Options that mean the same as those of `rateLimit`. */
const SHARED = ['name', 'key', 'skip', 'allow', 'block', 'mode', 'statusCode', 'message', 'onDenied'] as const

/** The name of an option that `overloadGuard` shares with `rateLimit`. */
type Shared = (typeof SHARED)[number]

/** Returns what an object has for the options that `rateLimit` shares. */
export function pickShared<T extends object>(options: T): Pick<T, Shared & keyof T> {
  const shared = Object.entries(options).filter(([name]) => SHARED.some((each) => each === name))
  return Object.fromEntries(shared) as Pick<T, Shared & keyof T>
}

/** The options of an overload guard in any framework. All have defaults. */
export type OverloadOptions<F extends FrameworkTypes> = OverloadFields<
  F['request'],
  F['response'],
  F['requestTest']
>

/** Each option of an overload guard. */
interface OverloadFields<Req, Res, Skip>
  extends Pick<RequestFields<Req, Res, Skip>, Exclude<Shared, 'onDenied'>> {
  /**
   * Returns how important a request is: `'critical'`, `'default'` or `'bulk'`. `undefined` means
   * `'default'`. The lowest class is denied first. For a minute after a critical request, a fifth of the
   * places is kept for such requests. It must not return a promise, and anything else is a `TypeError`.
   * Clients must not be able to choose the result.
   */
  priority?: (req: Req) => Priority | undefined
  /**
   * Returns the name of the tenant that a request is for. Tenants share the places by their weights. A
   * tenant may use what others leave free. For 5 s after a tenant within its share is denied, tenants beyond
   * their shares leave a fifth of the places free. `undefined` means no tenant and no share: only priority
   * and client count. It must not return a promise.
   */
  tenant?: (req: Req) => string | undefined
  /**
   * Returns the weight of a tenant, from 0.001 to 1000. With weights of 1 and 2, the second tenant's share
   * is twice that of the first. Called for the first requests of a tenant, and once more when it gets its
   * own share. Default 1. All new tenants share the weight 1.
   */
  weight?: (tenant: string) => number
  /**
   * A store in which the processes of a server publish, every second, how many places each tenant uses. A
   * tenant's share is then a share of the places of all processes. Requests never wait for it. If it fails,
   * each process is left with its own shares. All processes need the same `name`, and a store that supports
   * documents. At most 64 processes share. Default: a tenant has a share in each process. On isolates, such
   * as Cloudflare Workers, it has no effect.
   */
  store?: Store
  /** The prefix of the keys in the store. Default `'hg'`. */
  prefix?: string
  /**
   * Returns the class of routes that a request belongs to, at the first byte of its response. How long
   * requests take is compared within a class, so that a slow report is not taken for overload. At most 500
   * classes are kept, and all others share one. Default: the method, the route, and whether the status is an
   * error (400 and up), so 500 classes are about 250 routes. A server error (500 and up) that took longer
   * than the baseline of served requests is compared with them, because most such errors are timeouts. If
   * the framework does not know the route, the first segment of the path stands for it.
   */
  routeClass?: (req: Req, res: Res) => string
  /**
   * The limit of requests at once never falls below it, so that there are latencies to learn from. A probe
   * lets at least a quarter of it run at once, except for the first probe after a start under overload.
   * Default 3.
   */
  minLimit?: number
  /** The limit of requests at once never rises above it, even if the server is healthy. Default 1000. */
  maxLimit?: number
  /**
   * The longest time that a request waits for a place in a burst: at most `'10s'`. Any number may wait. Once
   * every request of ten times this time has waited for 5 ms or longer, the queue is not a burst, and
   * requests wait for 5 ms at most. 0 denies at once. Default `'50ms'`. On isolates, such as Cloudflare
   * Workers, no request waits.
   */
  maxWait?: Duration
}

/** The options of `overloadGuard` in a framework. All have defaults. */
export interface OverloadGuardOptions<F extends FrameworkTypes>
  extends OverloadOptions<F>,
    DenialOptions<F> {}

export const OVERLOAD_ROWS = {
  ...pickShared(MIDDLEWARE_ROWS),
  priority: syncFunction,
  tenant: syncFunction,
  weight: syncFunction,
  store: optional(readStore),
  prefix: withDefault('hg', keyName),
  routeClass: syncFunction,
  minLimit: withDefault(3, whole(1, 1_000_000, 3)),
  maxLimit: withDefault(1000, whole(1, 1_000_000, 1000)),
  maxWait: withDefault('50ms', readMaxWait),
}

type OverloadRead = Settings<typeof OVERLOAD_ROWS>

export const OVERLOAD_RULES = {
  limitCheck: { from: ['minLimit', 'maxLimit'], read: checkLimits },
  weightCheck: { from: ['weight', 'tenant'], read: checkWeight },
  storeCheck: { from: ['store', 'tenant', 'name'], read: checkStore },
} as const

/** The numbers of a guard, and the weights of its tenants. */
export interface GuardSettings {
  readonly minLimit: number
  readonly maxLimit: number
  /** 0 if no request waits. */
  readonly maxWaitMs: number
  readonly weightOf: (tenant: string) => number
}

/** A store that keeps documents, by which processes share figures. */
export type DocumentStore = Store & Required<Pick<Store, 'documents'>>

function readStore(owner: string, option: string, store: unknown): DocumentStore {
  if (!isStore(store)) throw wrongKind(owner, option, 'a store', store, 'Write store: redisStore(client).')
  if (store.documents !== undefined) return store as DocumentStore
  const problem = `store must support documents, but ${store.name} does not`
  throw wrongUse(owner, problem, 'Pass the option documents to its builder.')
}

function checkStore(
  owner: string,
  { store, tenant, name }: Pick<OverloadRead, 'store' | 'tenant' | 'name'>,
): void {
  if (store === undefined) return
  if (tenant === undefined)
    throw wrongUse(
      owner,
      'store requires tenant',
      'Leave store out: without tenants, it has nothing to share.',
    )
  if (name === undefined)
    throw wrongUse(owner, 'store requires name', "Write name: 'api', the same in all processes.")
}

function readMaxWait(owner: string, option: string, maxWait: unknown): number {
  return maxWait === 0 ? 0 : durationUpTo('10s')(owner, option, maxWait)
}

function checkLimits(
  owner: string,
  { minLimit, maxLimit }: Pick<OverloadRead, 'minLimit' | 'maxLimit'>,
): void {
  if (minLimit <= maxLimit) return
  throw wrongOption(owner, 'minLimit', `at most maxLimit (${maxLimit})`, minLimit, 'Raise maxLimit.')
}

function checkWeight(owner: string, { weight, tenant }: Pick<OverloadRead, 'weight' | 'tenant'>): void {
  if (weight === undefined || tenant !== undefined) return
  throw wrongUse(
    owner,
    'weight requires tenant',
    'Write tenant: (req) => …, which names the tenant of a request.',
  )
}
