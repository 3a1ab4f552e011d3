import { recordResend } from '../../pipe/client-notes.js'
import type { PublishedLimit } from '../../pipe/limits-document.js'
import { request } from '../../pipe/pipe.js'
import { readPublishedLimits } from '../../pipe/published-limits.js'
import { pipeTo } from '../../pipe/store-end.js'
import type { Documents } from '../../stores/documents.js'
import type { Operation, ResultOf } from '../../stores/operation.js'
import { SLOTS } from '../../stores/redis/key-slot.js'
import type { Store } from '../../stores/store.js'
import { messageOf } from '../../stores/store-error.js'
import { TimeoutError, timeout } from '../../util/timeout.js'
import { InputError } from '../failures.js'
import { loadDriver, type RedisDriver } from './redis-driver.js'
import { type StoreAddress, withoutCredentials } from './store-url.js'

/** A connection to a store. What fails rejects with an `InputError`. */
export interface StoreConnection {
  /** The store of headgate on this connection, whose own methods reject with its errors. */
  readonly store: Store
  /** Sends a command of Redis. */
  send(...words: readonly string[]): Promise<unknown>
  /** Reads the bytes of a key, if it has any, and the time in milliseconds by the store's clock. */
  readBytes(key: string): Promise<{ readonly bytes: unknown; readonly atMs: number }>
  /** Reads the limits that a limiter has published. */
  readLimits(key: string): Promise<readonly PublishedLimit[]>
  /** The documents of dashboards and settings. */
  readonly documents: Documents
  /** Applies operations to the store. */
  apply(operations: readonly Operation[]): Promise<void>
  applyOne<O extends Operation>(operation: O): Promise<ResultOf<O>>
  close(): void
}

const TIMEOUT_MS = 5000

/** Connects to a store by the client of Redis that is installed in a folder. */
export async function connectStore(address: StoreAddress, folder: string): Promise<StoreConnection> {
  const createDriver = await loadDriver(folder)
  const reported: Error[] = []
  const driver = createDriver(address.url, (error) => void reported.push(error))
  const inTime = timeout(TIMEOUT_MS)
  try {
    await inTime(driver.connect())
    await check(driver, address.database)
    return await connectionTo(driver, address)
  } catch (error) {
    driver.close()
    const isOwn = error instanceof InputError || error instanceof TimeoutError
    // ioredis rejects with no more than that the connection is closed.
    const cause = isOwn ? error : (reported[0] ?? error)
    throw failureOf(cause, address, `cannot use the store at ${address.place}`)
  }

  /** Rejects unless all keys are here: not every client checks that the database exists. */
  async function check({ client, send }: RedisDriver, database: number): Promise<void> {
    const info = String(await inTime(send(['info', 'cluster'])))
    if (info.includes('cluster_enabled:1')) {
      if (!hasAllSlots(await inTime(send(['cluster', 'slots']))))
        throw new InputError(
          'the store is one of several nodes of a Redis Cluster, which this command cannot search',
        )
      recordResend(client)
    }
    if (database !== 0) await inTime(send(['select', String(database)]))
  }
}

/** Returns whether a reply to CLUSTER SLOTS shows all slots on one server, as hosted clusters may. */
function hasAllSlots(reply: unknown): boolean {
  const ranges: readonly (readonly unknown[])[] = Array.isArray(reply) ? reply : []
  const slots = ranges.reduce((sum, [first, last]) => sum + Number(last) - Number(first) + 1, 0)
  const masters = new Set(ranges.map(([, , master]) => String(master)))
  return slots === SLOTS && masters.size === 1
}

async function connectionTo(driver: RedisDriver, address: StoreAddress): Promise<StoreConnection> {
  // Loaded here, so that replay does not load it, and no other entry either.
  const { redisStore } = await import('../../redis.js')
  const { transportOf } = await import('../../stores/redis/client.js')
  const store = redisStore(driver.client)
  const documents = store.documents as Documents // stores on Redis have them
  const { slotOf, send } = transportOf(driver.client)
  const pipe = pipeTo(store)
  const inTime = timeout(TIMEOUT_MS)

  async function run<T>(work: Promise<T>): Promise<T> {
    try {
      return await inTime(work)
    } catch (error) {
      throw failureOf(error, address, `the store at ${address.place} failed`)
    }
  }

  async function readBytes(key: string) {
    const words = ['mget', key] as const
    const [values, time] = await Promise.all([
      send([{ shard: slotOf(key), words, firstKey: 1, keyCount: 1 }])[0],
      driver.send(['time']),
    ])
    const [seconds, microseconds] = listOf(time)
    const atMs = 1000 * Number(seconds) + Math.floor(Number(microseconds) / 1000)
    return { bytes: listOf(values)[0] ?? undefined, atMs }
  }

  return {
    store,
    send: (...words) => run(driver.send(words)),
    readBytes: (key) => run(readBytes(key)),
    documents: {
      read: (requests) => run(documents.read(requests)),
      replace: (...change) => run(documents.replace(...change)),
    },
    readLimits: (key) => run(readPublishedLimits(store.documents, key)),
    async apply(operations) {
      await run(Promise.all(operations.map(async (operation) => request(pipe, operation))))
    },
    applyOne: (operation) => run((async () => request(pipe, operation))()),
    close: driver.close,
  }
}

function listOf(reply: unknown): readonly unknown[] {
  return Array.isArray(reply) ? reply : []
}

/** Returns the one line about an error. It never shows the password of the URL. */
function failureOf(error: unknown, address: StoreAddress, problem: string): InputError {
  if (error instanceof InputError) return error
  const { place } = address
  const message = withoutCredentials(messageOf(error), address)
  if (/^(?:WRONGPASS|ERR AUTH|ERR invalid password)/.test(message))
    return new InputError(`the store at ${place} rejected the user or the password in its URL`)
  if (message.startsWith('NOAUTH'))
    return new InputError(`the store at ${place} requires a password: redis://:password@${place}`)
  return new InputError(`${problem}: ${message}`)
}
