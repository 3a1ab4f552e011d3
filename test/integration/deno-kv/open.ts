import type { DenoKv, KvKey } from '../../../src/stores/deno-kv/client.js'
import { isLocked } from '../../../src/stores/deno-kv/errors.js'

/** A KV of Deno, of which tests use more than the store does. */
export interface TestKv extends DenoKv {
  set(key: KvKey, value: unknown): Promise<unknown>
  list(selector: { readonly prefix: KvKey }): AsyncIterable<{ readonly key: KvKey; readonly value: unknown }>
  close(): void
}

declare const Deno: { openKv(path: string): Promise<TestKv> }

const MAX_ATTEMPTS = 50
const PAUSE_MS = 20

/** Opens a file of Deno KV, or one in memory. Processes that write to the file can lock it for a moment. */
export async function openKv(path = ':memory:'): Promise<TestKv> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await Deno.openKv(path)
    } catch (error) {
      if (!isLocked(error) || attempt === MAX_ATTEMPTS) throw error
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
}
