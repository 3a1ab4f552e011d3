import type { Socket } from 'node:net'

/** A reply in memcached's binary protocol, as memjs parses it. */
export interface MemcachedReply {
  readonly header: { readonly status: number; readonly cas: Buffer }
  readonly extras: Buffer
  readonly val: Buffer
}

/** One server of a memjs client. */
export interface MemcachedServer {
  readonly host: string
  readonly port: number | string
  /** Whether requests go out at once. */
  connected: boolean
  /** The present connection, also while it is being made. */
  readonly _socket?: Socket | undefined
  onResponse(seq: number, callback: (reply: MemcachedReply) => void): void
  onError(seq: number, callback: (error: unknown) => void): void
  write(request: Buffer): void
  /** Tells of each connection that is made. */
  on(event: 'authenticated', listener: () => void): unknown
  /** Drops the connection, and tells all that wait for it. */
  error(error: Error): void
  /** What has come of a reply that is not complete. */
  responseBuffer: Buffer
}

/**
 * What the store needs of a memjs client, version 1.3 (https://github.com/memcachier/memjs). Its requests go through the parts
 * that memjs itself is built of, since its named commands know no compare-and-swap. So they never come to `perform`, and the
 * client's `retries` cannot count anything twice.
 */
export interface MemcachedClient {
  readonly seq: number
  readonly servers: readonly MemcachedServer[]
  incrSeq(): void
  /** The server that a key lives on; nothing when none can be had. */
  server(key: string): MemcachedServer | null | undefined
}

/** Whether a value has what the store needs. */
export function isMemcachedClient(value: unknown): value is MemcachedClient {
  if (typeof value !== 'object' || value === null) return false
  const { seq, servers, incrSeq, server } = value as Partial<MemcachedClient>
  const hasMethods = [incrSeq, server].every((method) => typeof method === 'function')
  return hasMethods && typeof seq === 'number' && Array.isArray(servers)
}

/** The server that a key lives on; nothing when none can be had, or a `getServer` of the user's throws. */
export function serverFor(client: MemcachedClient, key: string): MemcachedServer | undefined {
  try {
    return client.server(key) ?? undefined
  } catch {
    return undefined
  }
}

export function nameOf({ host, port }: MemcachedServer): string {
  return `${host}:${port}`
}
