import type { DenoKv, KvKey } from '../../../src/stores/deno-kv/client.js'

/** A KV of Deno, of which tests use more than the store does. */
export interface TestKv extends DenoKv {
  set(key: KvKey, value: unknown): Promise<unknown>
  list(selector: { readonly prefix: KvKey }): AsyncIterable<{ readonly key: KvKey; readonly value: unknown }>
  close(): void
}

declare const Deno: { openKv(path: string): Promise<TestKv> }

/** Opens a file of Deno KV, or one in memory. */
export const openKv = (path = ':memory:'): Promise<TestKv> => Deno.openKv(path)
