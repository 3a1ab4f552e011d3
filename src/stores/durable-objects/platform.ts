/**
 * What the store needs of Cloudflare's `DurableObjectNamespace`, such as `env.LIMITS`.
 * https://developers.cloudflare.com/durable-objects/api/namespace/
 */
export interface ObjectNamespace {
  idFromName(name: string): object
  get(
    id: never,
    options: { locationHint?: never },
  ): {
    fetch(url: string, init: { method: string; body: string }): Promise<{ text(): Promise<string> }>
  }
}

/** What the object needs of Cloudflare's `DurableObjectState`. */
export interface ObjectContext {
  readonly storage: ObjectStorage
}

/**
 * What the object needs of its SQLite storage. SQL runs synchronously. No reply leaves the object before
 * everything written earlier is durable.
 * https://developers.cloudflare.com/durable-objects/api/sqlite-storage-api/
 */
export interface ObjectStorage {
  readonly sql: {
    exec(sql: string, ...values: readonly unknown[]): { toArray(): Record<string, unknown>[] }
  }
  transactionSync<T>(run: () => T): T
  getAlarm(): Promise<number | null>
  setAlarm(atMs: number): Promise<void>
}

/** What the object needs of a `Request`. */
export interface ObjectRequest {
  readonly url: string
  json(): Promise<unknown>
}
