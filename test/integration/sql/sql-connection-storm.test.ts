import { childrenOf } from './children.js'
import type { Kind } from './database-kind.js'
import type { PairCounts } from './pairs.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

const STORM_MS = 1500
const POOL = 10

/** Ends all other connections, also those that are just being made. */
const END_ALL: Readonly<Record<Kind['name'], string>> = {
  mysql: 'KILL USER headgate',
  postgres:
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
}

const startChildren = childrenOf('pairs-child.ts')

describe.each(DATABASES)('on %s', (_name, kind) => {
  const database = setUpDatabase(kind, { own: true })

  test('connections that end the moment they are made end no process, and its charges fail or pass', async () => {
    const place = { kind, url: database.server.url, table: await database.makeTable() }
    const children = startChildren(2, place)
    try {
      const order = { pairs: 4, callers: 20, forMs: STORM_MS, restMs: 0 }
      const charging = children.ask<PairCounts>(() => order)
      let isOver = false
      const counts = charging.finally(() => {
        isOver = true
      })
      counts.catch(() => undefined) // it is awaited later
      while (!isOver) await database.server.query(END_ALL[kind.name]).catch(() => undefined)
      expect((await counts).flatMap(({ texts }) => texts)).not.toEqual([])
      const later = await children.ask<PairCounts>(() => ({ ...order, forMs: 300 }))
      expect(later.flatMap(({ texts }) => texts)).toEqual([])
      expect(await children.ask<number>(() => ({ take: POOL }))).toEqual([POOL, POOL])
    } finally {
      await children.end()
    }
  })
})
