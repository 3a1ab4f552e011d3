import type { Socket } from 'node:net'
import { wrongKind } from '../../util/validate.js'
import type { Unchecked } from '../shared/validate.js'

/** One server of a memjs client. */
export interface MemcachedServer {
  readonly host: string
  readonly port: number | string
  /** Whether `write` sends at once. Otherwise it queues until the connection is open. */
  connected: boolean
  /** The current connection, which may still be connecting. */
  readonly _socket?: Socket | undefined
  /** Received bytes that are not a whole reply yet. */
  responseBuffer: Buffer
  /** When the writes that have no reply yet time out. Each write adds one. */
  requestTimeouts: readonly unknown[]
  /** Reads received bytes, and passes replies to the callbacks of their requests. */
  responseHandler(received: Buffer): void
  /** Sets a callback for the end of the connection. */
  onError(seq: number, callback: (error: unknown) => void): void
  write(request: Buffer): void
  /** Calls `listener` for each new connection, before anything is written to it. */
  on(event: 'authenticated', listener: () => void): unknown
  /** Closes the connection, and fails its pending requests. */
  error(error: Error): void
}

export function addressOf({ host, port }: MemcachedServer): string {
  return `${host}:${port}`
}

/**
 * What the store needs of a memjs client, version 1.3 (https://github.com/memcachier/memjs). The store
 * writes its own requests to memjs' connections, because memjs has no command for compare-and-swap. They
 * bypass `perform`, so the client's `retries` can never count a charge twice.
 */
export interface MemcachedClient {
  readonly seq: number
  readonly servers: readonly MemcachedServer[]
  incrSeq(): void
  /** Returns the server that holds a key, or nothing if no server is available. */
  server(key: string): MemcachedServer | null | undefined
  stats(callback: (error: Error | null, server: string, stats: Record<string, string> | null) => void): void
}

/** Returns the client. Throws a `TypeError` for a value that lacks what the store needs. */
export function readClient(value: unknown): MemcachedClient {
  if (isOfMemjs(value)) return value
  const call = "memcachedStore(Client.create('127.0.0.1:11211'))"
  const fix = isOfMemcached(value)
    ? `The package memcached is not supported: install memjs, and write ${call}.`
    : `Write ${call}.`
  throw wrongKind('memcachedStore', 'client', 'a memjs client', value, fix)
}

function isOfMemjs(value: unknown): value is MemcachedClient {
  const { seq, servers, incrSeq, server, stats }: Unchecked<MemcachedClient> = value ?? {}
  const hasMethods = [incrSeq, server, stats].every((method) => typeof method === 'function')
  return hasMethods && typeof seq === 'number' && Array.isArray(servers)
}

/**
 * Returns whether a value is a client of the npm package memcached, which has these methods unlike memjs.
 */
function isOfMemcached(value: unknown): boolean {
  const { cas, gets, getMulti }: { cas?: unknown; gets?: unknown; getMulti?: unknown } = value ?? {}
  return [cas, gets, getMulti].every((method) => typeof method === 'function')
}
