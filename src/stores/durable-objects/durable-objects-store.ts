import { optional, readOptions, withDefault } from '../../options/option-table.js'
import { type Duration, durationUpTo } from '../../util/durations.js'
import { whole, wrongKind } from '../../util/validate.js'
import { ownerDocuments } from '../builders/document-codec.js'
import { type OwnerMessage, ownerStore } from '../builders/owner-store.js'
import type { Store } from '../store.js'
import { identityShard } from './identity.js'
import type { ObjectNamespace } from './platform.js'
import { STORE_NAME, WRITE_DELAY } from './serving-object.js'

/** Options of `durableObjectsStore`. */
export interface DurableObjectsStoreOptions {
  /**
   * The number of objects that share the keys, up to 1,024. Default 16. If you change it, some clients move
   * to another object and start afresh. If you double it, half of them do.
   */
  shards?: number
  /**
   * How long an object may keep states in memory before it writes them, up to `'10s'`. A busy key then costs
   * one row written in that time, instead of one for each decision.
   *
   * If a failure or a new version of your Worker resets the object, the units taken since the last write are
   * lost, and can be taken again. By default, each decision is written before its reply leaves, so nothing
   * is lost.
   */
  writeDelay?: Duration
  /**
   * Where to create the objects, such as `'weur'` for Western Europe. By default, each object is created
   * near the first request for it.
   * https://developers.cloudflare.com/durable-objects/reference/data-location/
   */
  locationHint?: string
}

const OPTIONS = {
  rows: {
    shards: withDefault(16, whole(1, 1024, 16)),
    writeDelay: optional(durationUpTo('10s')),
    locationHint: optional(readText),
  },
}

/** The object that keeps the documents of all limiters. */
const DOCUMENTS = 'documents'
/** A distant object takes about 300 ms to reply, and an evicted one has to start first. */
const DEFAULT_TIMEOUT_MS = 1000

/**
 * Creates a store that keeps states in Cloudflare Durable Objects. `namespace` is a binding to the class
 * `LimitsObject`, or a function that returns the binding. Each decision calls the function.
 *
 * - **Atomicity.** One object keeps all limits of an identity, and decides a charge of them in one step.
 *   Limits with different identities are charged one after the other. If a later one denies, the earlier
 *   ones are refunded.
 * - **Clock.** The object's.
 * - **Durability.** Unless you set `writeDelay`, a reply leaves an object only once its states are durable.
 *   Evictions and restarts then lose nothing.
 * - **Failures.** No operation is sent twice. If a call to an object fails, the charge may have been
 *   counted.
 *
 * Throws a `TypeError` for a wrong namespace or wrong options.
 *
 * @example
 * ```ts
 * import { durableObjectsStore, type ObjectNamespace } from 'headgate/durable-objects'
 * import { rateLimit } from 'headgate/hono'
 *
 * export const limiterOf = (env: { LIMITS: ObjectNamespace }) =>
 *   rateLimit({ limit: 100, window: '1m', store: durableObjectsStore(env.LIMITS) })
 * ```
 */
export function durableObjectsStore(
  namespace: ObjectNamespace | (() => ObjectNamespace),
  options: DurableObjectsStoreOptions = {},
): Store {
  const { shards, writeDelay, locationHint } = readOptions('durableObjectsStore', options, OPTIONS)
  const placement = { ...(locationHint !== undefined && { locationHint: locationHint as never }) }
  const url = `https://headgate/${writeDelay === undefined ? '' : `?${WRITE_DELAY}=${writeDelay}`}`
  const isGetter = typeof namespace === 'function'
  if (!isGetter) checkNamespace(namespace)

  /** Asks an object, through a new stub. A stub belongs to one request, and breaks after an exception. */
  async function ask(object: string, message: OwnerMessage): Promise<unknown> {
    const found = checkNamespace(isGetter ? namespace() : namespace)
    const stub = found.get(found.idFromName(object) as never, placement)
    const reply = await stub.fetch(url, { method: 'POST', body: JSON.stringify(message) })
    return JSON.parse(await reply.text())
  }

  const objectOf = (key: string) => `limits-${identityShard(key, shards)}`
  return ownerStore({
    name: STORE_NAME,
    batching: false,
    defaultTimeoutMs: DEFAULT_TIMEOUT_MS,
    timeout: '1m', // no limiter waits longer
    send: (message, object) => ask(object, message),
    ownerOf: objectOf,
    serverOf: objectOf,
    documents: ownerDocuments(STORE_NAME, (message) => ask(DOCUMENTS, message)),
    ...(!isGetter && { origin: { client: namespace } }),
  })
}

/**
 * Returns a namespace. Throws a `TypeError` for anything else, such as the `undefined` of a missing binding.
 */
function checkNamespace(value: unknown): ObjectNamespace {
  const { get, idFromName }: Partial<Record<keyof ObjectNamespace, unknown>> = Object(value)
  if (typeof get === 'function' && typeof idFromName === 'function') return value as ObjectNamespace
  const fix = 'Write durableObjectsStore(env.LIMITS), and bind LIMITS to LimitsObject in wrangler.jsonc.'
  throw wrongKind('durableObjectsStore', 'namespace', 'a Durable Objects binding', value, fix)
}

function readText(owner: string, option: string, value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  throw wrongKind(owner, option, 'a string', value, `Write ${option}: 'weur'.`)
}
