import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import type { MaybePromise, StoreError } from 'headgate'
import { Client, type ClientOptions, type ServerOptions } from 'memjs'
import type { MemcachedServer } from '../../support/servers/memcached.js'
import { outcomeOf } from '../redis/outcomes.js'

/** Opens clients for one test, and closes them all. */
export function connections() {
  const opened: Client[] = []
  return {
    open(url: string, options: ClientOptions & ServerOptions = {}): Client {
      const client = Client.create(url, { logger: { log: () => undefined }, ...options })
      opened.push(client)
      return client
    },
    closeAll(): void {
      for (const client of opened.splice(0)) client.close()
    },
  }
}

/** What a call failed with: it must be a `StoreError` of this store, and come soon. */
export async function failureOf(call: MaybePromise<unknown>, withinMs = 2000): Promise<StoreError> {
  const { error, tookMs } = await outcomeOf(Promise.resolve(call).then(() => []))
  expect(error).toMatchObject({ name: 'StoreError', store: 'memcached' })
  expect(tookMs).toBeLessThan(withinMs)
  return error as StoreError
}

export function failuresOf(
  calls: readonly MaybePromise<unknown>[],
  withinMs?: number,
): Promise<StoreError[]> {
  return Promise.all(calls.map((call) => failureOf(call, withinMs)))
}

/** The text of what memjs, or the network below it, threw. */
export function causeOf({ cause }: StoreError): string {
  expect(cause).toMatchObject({ message: expect.any(String) })
  return (cause as Error).message
}

/** An item as it lies in a server. */
export interface Item {
  readonly value: Buffer
  readonly flags: number
  /** In whole seconds since the Unix epoch; 0 is never. */
  readonly expiresAtS: number
}

/** The keys that a server holds, and when they expire, other than those by which losses are noticed. */
export async function expiriesOn(server: MemcachedServer): Promise<Map<string, number>> {
  const items = (await dump(server)).filter(({ key }) => !key.startsWith('hg:canary:'))
  return new Map(items.map(({ key, expiresAtS }) => [key, expiresAtS]))
}

/** The keys that a server holds, and which class of chunks they lie in. */
export async function classesOn(server: MemcachedServer): Promise<Map<string, number>> {
  return new Map((await dump(server)).map(({ key, slab }) => [key, slab]))
}

interface Dumped {
  readonly key: string
  readonly expiresAtS: number
  readonly slab: number
}

/** All items. A dump leaves out those that are in use at the moment, so it is made until it has all that are counted, or five times. */
async function dump(server: MemcachedServer): Promise<readonly Dumped[]> {
  const items = new Map<string, Dumped>()
  for (let i = 0; i < 5; i++) {
    for (const item of await dumpOnce(server)) items.set(item.key, item)
    const counted = Number(/^STAT curr_items (\d+)/m.exec(await server.command('stats'))?.[1])
    if (items.size >= counted) break
  }
  return [...items.values()]
}

async function dumpOnce({ host, port }: MemcachedServer): Promise<readonly Dumped[]> {
  const socket = connect({ host, port })
  try {
    const lines = createInterface(socket)[Symbol.asyncIterator]()
    const items: Dumped[] = []
    socket.write('lru_crawler metadump all\r\n')
    for (;;) {
      const { value = '' } = await lines.next()
      if (value === 'END') return items
      const [, key = '', expires, slab] = /^key=(\S+) exp=(-?\d+) .*\bcls=(\d+)/.exec(value) ?? []
      if (expires === undefined) throw new Error(`memcached lists no items: ${value}`)
      items.push({
        key: decodeURIComponent(key),
        expiresAtS: Math.max(0, Number(expires)),
        slab: Number(slab),
      })
    }
  } finally {
    socket.destroy()
  }
}

/** The item of a key; `undefined` where there is none. */
export async function itemOf(
  server: MemcachedServer,
  client: Client,
  key: string,
): Promise<Item | undefined> {
  const { value, flags } = await client.get(key)
  if (value === null) return undefined
  const expiresAtS = (await expiriesOn(server)).get(key) ?? Number.NaN
  return { value, flags: flags?.readUInt32BE(0) ?? 0, expiresAtS }
}

/** What a counter stands at; 0 where there is none. */
export async function countAt(client: Client, key: string): Promise<number> {
  const { value } = await client.get(key)
  return Number(value?.toString('latin1').trimEnd() ?? 0)
}
