import { randomBytes } from 'node:crypto'
import { askAlone, type Link } from './link.js'
import { type MemcachedClient, type MemcachedServer, nameOf } from './memcached-client.js'
import { get, STATUS, swap } from './wire.js'

/**
 * How often the items are read that should still be there. memcached evicts what was not used for longest, so an item that is
 * read every ten seconds tells of restarts and flushes, and one that is read every ten minutes tells also of evictions that reach limits
 * unused for so long.
 */
const CANARIES_MS = [10_000, 600_000]
/** Enough to find a key for each of many servers. */
const MAX_KEYS = 10_000

interface Canary {
  readonly key: string
  readonly everyMs: number
  readAtMs: number
  value: string | undefined
  isBusy: boolean
}

/**
 * Keeps an item or two on each server that nobody removes, and tells when one is gone: then live limits may be gone, too. Each
 * process tells once for each loss.
 */
export function lossWatch(
  client: MemcachedClient,
  ask: Link,
  tell: (server: string) => void,
  now: () => number,
): (home: string) => void {
  const byServer = new Map<MemcachedServer, readonly Canary[]>()

  function canariesOf(server: MemcachedServer): readonly Canary[] {
    const known = byServer.get(server)
    if (known !== undefined) return known
    const canaries = CANARIES_MS.flatMap((everyMs): Canary[] => {
      const key = keyOn(server, everyMs)
      return key === undefined ? [] : [{ key, everyMs, readAtMs: 0, value: undefined, isBusy: false }]
    })
    byServer.set(server, canaries)
    return canaries
  }

  /** A key that lives on a server. */
  function keyOn(server: MemcachedServer, everyMs: number): string | undefined {
    for (let i = 0; i < MAX_KEYS; i++) {
      const key = `hg:canary:${everyMs / 1000}s:${i}`
      if (client.server(key) === server) return key
    }
    return undefined
  }

  async function look(canary: Canary, server: MemcachedServer): Promise<void> {
    canary.isBusy = true
    try {
      const found = (await readValue(canary.key)) ?? (await putNew(canary.key))
      if (canary.value !== undefined && found !== canary.value) tell(nameOf(server))
      canary.value = found
    } catch {
      // A server that does not answer has told so to the charges, and is asked again later.
    }
    canary.isBusy = false
  }

  async function readValue(key: string): Promise<string | undefined> {
    const { header, val } = await askAlone(ask, key, get(key))
    return header.status === STATUS.ok ? val.toString('hex') : undefined
  }

  async function putNew(key: string): Promise<string | undefined> {
    const value = randomBytes(8)
    const { header } = await askAlone(ask, key, swap(key, value, 0, undefined))
    return header.status === STATUS.ok ? value.toString('hex') : readValue(key)
  }

  return (home) => {
    const server = client.server(home)
    if (!server) return
    const nowMs = now()
    for (const canary of canariesOf(server)) {
      if (canary.isBusy || nowMs - canary.readAtMs < canary.everyMs) continue
      canary.readAtMs = nowMs
      look(canary, server)
    }
  }
}
