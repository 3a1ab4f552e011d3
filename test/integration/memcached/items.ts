import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import type { Client } from 'memjs'
import type { MemcachedServer } from '../../support/servers/memcached.js'
import { until } from '../../support/servers/wait.js'

/** An item as it lies in a server. */
export interface Item {
  readonly value: Buffer
  readonly flags: number
  /** In whole seconds since the Unix epoch; 0 is never. */
  readonly expiresAtS: number
}

/**
 * The keys that a server holds, and when they expire. A dump leaves out items that are in use at the moment,
 * and the server still counts those that were flushed. So it is repeated, after the server was asked to
 * remove those, until it is complete.
 */
export async function expiriesOn(server: MemcachedServer): Promise<Map<string, number>> {
  return until('the dump is complete', async () => {
    const expiries = new Map(await dumpOnce(server))
    const items = Number(/^STAT curr_items (\d+)/m.exec(await server.command('stats'))?.[1])
    if (expiries.size >= items) return expiries
    await server.command('lru_crawler crawl all')
    return undefined
  })
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
