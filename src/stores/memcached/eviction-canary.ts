import { randomBytes } from 'node:crypto'
import { type MemcachedClient, type MemcachedServer, nameOf, serverFor } from './client.js'
import { askAlone, type Link } from './link.js'
import { get, lengthOfSwapped, STATUS, swap } from './protocol.js'

/**
 * How often the items are read that should still be there. memcached evicts what was not used for longest, so an item that is
 * read every ten seconds tells of restarts and flushes, and one that is read every ten minutes tells also of evictions that reach limits
 * unused for so long.
 */
const CANARIES_MS = [10_000, 600_000]
/** Enough to find a key for each of many servers. */
const MAX_KEYS = 10_000

/**
 * Items are evicted among those of about their size, so there are canaries of each size. memcached 1.6.18 adds so many bytes to an item on
 * a 64-bit machine, and keeps it in a chunk whose size is a multiple of 8.
 */
const ITEM_OVERHEAD = 59
const CHUNK_STEP = 8
/** At least. What a key cannot hold of an item's size, the value holds. */
const VALUE_LENGTH = 8
const MAX_KEY_LENGTH = 250

interface Canary {
  readonly key: string
  readonly valueLength: number
  readonly everyMs: number
  readAtMs: number
  value: string | undefined
  isBusy: boolean
}

/** Is told of each item that is written, by the key that says where it lives and the bytes of its key, its value and their flags. */
export type Watch = (home: string, bytes: number) => void

/**
 * Keeps a few items on each server that nobody removes, and tells when one is gone: then live limits may be gone, too. Each
 * process tells once for each loss.
 */
export function lossWatch(
  client: MemcachedClient,
  ask: Link,
  tell: (server: string) => void,
  now: () => number,
): Watch {
  const byServer = new Map<MemcachedServer, Map<number, readonly Canary[]>>()

  /** Those that are as large as an item. */
  function canariesOf(server: MemcachedServer, bytes: number): readonly Canary[] {
    const steps = Math.ceil((bytes + ITEM_OVERHEAD) / CHUNK_STEP)
    const bySize = byServer.get(server) ?? new Map<number, readonly Canary[]>()
    byServer.set(server, bySize)
    const known = bySize.get(steps)
    if (known?.every(({ key }) => serverFor(client, key) === server)) return known // a server may have been away
    const spare = steps * CHUNK_STEP - ITEM_OVERHEAD - lengthOfSwapped(Buffer.alloc(VALUE_LENGTH))
    const keyLength = Math.min(MAX_KEY_LENGTH, spare)
    const valueLength = VALUE_LENGTH + Math.max(0, spare - keyLength)
    const canaries = CANARIES_MS.flatMap((everyMs): Canary[] => {
      const key = keyOn(server, everyMs, steps, keyLength)
      return key === undefined
        ? []
        : [{ key, valueLength, everyMs, readAtMs: 0, value: undefined, isBusy: false }]
    })
    bySize.set(steps, canaries)
    return canaries
  }

  /** A key of that length that lives on a server. */
  function keyOn(
    server: MemcachedServer,
    everyMs: number,
    steps: number,
    length: number,
  ): string | undefined {
    for (let i = 0; i < MAX_KEYS; i++) {
      const key = `hg:canary:${everyMs / 1000}s:${steps}:${i}:`.padEnd(length, '-')
      if (serverFor(client, key) === server) return key
    }
    return undefined
  }

  async function look(canary: Canary, server: MemcachedServer): Promise<void> {
    canary.isBusy = true
    try {
      const found = (await readValue(canary.key)) ?? (await putNew(canary))
      const isLost = canary.value !== undefined && found !== canary.value
      if (isLost) onLoss(server)
      canary.value = found
    } catch {
      // A server that does not answer has told so to the charges, and is asked again later.
    }
    canary.isBusy = false
  }

  /** What the same loss has done to the other canaries is not told again. */
  function onLoss(server: MemcachedServer): void {
    for (const canary of [...(byServer.get(server)?.values() ?? [])].flat()) canary.value = undefined
    tell(nameOf(server))
  }

  async function readValue(key: string): Promise<string | undefined> {
    const { header, val } = await askAlone(ask, key, get(key))
    return header.status === STATUS.ok ? val.toString('hex') : undefined
  }

  async function putNew({ key, valueLength }: Canary): Promise<string | undefined> {
    const value = randomBytes(valueLength)
    const { header } = await askAlone(ask, key, swap(key, value, 0, undefined))
    return header.status === STATUS.ok ? value.toString('hex') : readValue(key)
  }

  return (home, bytes) => {
    const server = serverFor(client, home)
    if (!server) return
    const nowMs = now()
    for (const canary of canariesOf(server, bytes)) {
      if (canary.isBusy || nowMs - canary.readAtMs < canary.everyMs) continue
      canary.readAtMs = nowMs
      look(canary, server)
    }
  }
}
