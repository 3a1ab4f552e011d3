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

/**
 * The keys that a server holds, and when they expire. A dump leaves out items that are in use at the
 * moment, so it is repeated until it is complete, at most five times.
 */
export async function expiriesOn(server: MemcachedServer): Promise<Map<string, number>> {
  const expiries = new Map<string, number>()
  for (let i = 0; i < 5; i++) {
    for (const [key, expiresAtS] of await dumpOnce(server)) expiries.set(key, expiresAtS)
    const items = Number(/^STAT curr_items (\d+)/m.exec(await server.command('stats'))?.[1])
    if (expiries.size >= items) break
  }
  return expiries
}

async function dumpOnce({ host, port }: MemcachedServer): Promise<readonly [string, number][]> {
  const socket = connect({ host, port })
  try {
    const lines = createInterface(socket)[Symbol.asyncIterator]()
    const items: [string, number][] = []
    socket.write('lru_crawler metadump all\r\n')
    for (;;) {
      const { value = '' } = await lines.next()
      if (value === 'END') return items
      const [, key = '', expires] = /^key=(\S+) exp=(-?\d+) /.exec(value) ?? []
      if (expires === undefined) throw new Error(`memcached lists no items: ${value}`)
      items.push([decodeURIComponent(key), Math.max(0, Number(expires))])
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
