import type { Client } from 'memjs'
import { lossWatch } from '../../../src/stores/memcached/eviction-canary.js'
import { link } from '../../../src/stores/memcached/link.js'

/** Some of them live on each server. */
const KEYS = Array.from({ length: 20 }, (_, i) => `key-${i}`)

/** One process of several that watch, with a clock that the test sets. */
export function watcher(client: Client, bytes = 10) {
  const told: string[] = []
  let nowMs = Date.now()
  const watch = lossWatch(
    client,
    link(client),
    (name) => told.push(name),
    () => nowMs,
  )
  return {
    told,
    /** Writes items of all servers so much later, and waits until what that asks for is answered. */
    async later(ms: number) {
      nowMs += ms
      for (const key of KEYS) watch(key, bytes)
      await allAnswered(client)
    },
  }
}

/** Waits until a look, which is of some steps, is over: replies come in the order of the requests. */
export async function allAnswered(client: Client): Promise<void> {
  for (let i = 0; i < 4; i++) await Promise.allSettled(KEYS.map((key) => client.get(key)))
}
