import { setTimeout as pause } from 'node:timers/promises'
import { remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { until } from '../../support/servers/wait.js'
import { forgetStore } from '../../support/store-calls.js'
import { type Children, childrenOf } from './children.js'
import type { Kind } from './database-kind.js'
import { keysOfPair, PAIR_POLICY, type PairCounts } from './pairs.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

const PROCESSES = 2
const PAIRS = 12
const POOL = 10
const ENOUGH = 30

interface Sessions {
  /** Statements that end every connection but the one that asks. */
  readonly others: string
  readonly kill: (id: unknown) => string
  /** Counts the transactions that are open. */
  readonly open: string
}

const SESSIONS: Readonly<Record<Kind['name'], Sessions>> = {
  mysql: {
    others: "SELECT id FROM information_schema.processlist WHERE user = 'headgate' AND id <> CONNECTION_ID()",
    kill: (id) => `KILL CONNECTION ${id}`,
    open: 'SELECT count(*) AS count FROM information_schema.innodb_trx',
  },
  postgres: {
    others:
      "SELECT pid AS id FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    kill: (id) => `SELECT pg_terminate_backend(${id})`,
    open: "SELECT count(*) AS count FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'",
  },
}

/** How much the processes charge. */
interface Load {
  readonly callers: number
  /** How long each caller pauses after a charge. */
  readonly restMs: number
  /** For how long connections are lost repeatedly, at least. */
  readonly killingMs: number
  /** How long they have between two such losses. */
  readonly everyMs: number
  /** For about how long they charge before the server is killed, and after it is back. */
  readonly aroundMs: number
}

/** Defines the tests of processes that lose their connections to a database, under a load. */
export function describeLostConnections({ callers, restMs, killingMs, everyMs, aroundMs }: Load): void {
  const startChildren = childrenOf('pairs-child.ts')

  describe.each(DATABASES)('on %s, two processes that charge pairs of keys', (_name, kind) => {
    const database = setUpDatabase(kind, { own: true })
    const { others, kill, open } = SESSIONS[kind.name]
    let children: Children
    let table: string

    beforeAll(async () => {
      table = await database.makeTable()
      const place = { kind, url: database.server.url, table }
      children = startChildren(PROCESSES, place)
      await expectWhole() // all are there
    })

    afterAll(() => children?.end())

    async function expectWhole(): Promise<void> {
      const taken = await children.ask<number>(() => ({ take: POOL }))
      expect(taken).toEqual(Array(PROCESSES).fill(POOL))
      await until('no transaction is open', async () => {
        const [row] = await database.server.query(open)
        return Number(row?.count) === 0
      })
    }

    /**
     * What came of charges while something is done to the server, for so long and as often. `harm` gets what
     * came of them so far. No process may end.
     */
    async function chargeWhile(
      forMs: number,
      harm: (counts: readonly PairCounts[]) => Promise<void>,
    ): Promise<PairCounts[]> {
      let isOver = false
      const counts: PairCounts[] = []
      const harming = harm(counts).finally(() => {
        isOver = true
      })
      harming.catch(() => undefined) // it is awaited later
      do counts.push(...(await children.ask<PairCounts>(() => ({ pairs: PAIRS, callers, forMs, restMs }))))
      while (!isOver)
      await harming
      return counts
    }

    /**
     * Both keys of a pair have the same, and no less than was allowed, and no more than that and what
     * failed.
     */
    async function expectNothingHalfTaken(counts: readonly PairCounts[]): Promise<void> {
      const store = database.open().makeStore({ table })
      for (let pair = 0; pair < PAIRS; pair++) {
        const [left = 0, right = 0] = await remainingOf(store, PAIR_POLICY, keysOfPair(pair))
        expect(left).toBe(right)
        const sum = (name: 'allowed' | 'failed') =>
          counts.reduce((all, each) => all + (each[name][pair] ?? 0), 0)
        const taken = PAIR_POLICY.limit - left
        expect(taken).toBeGreaterThanOrEqual(sum('allowed'))
        expect(taken).toBeLessThanOrEqual(sum('allowed') + sum('failed'))
        expect(sum('allowed')).toBeGreaterThan(0)
      }
      await forgetStore(
        store,
        Array.from({ length: PAIRS }, (_, pair) => keysOfPair(pair))
          .flat()
          .map((key) => ({ key, policy: PAIR_POLICY })),
      )
    }

    test('lose connections repeatedly: every charge is all or nothing, and the pools are whole', async () => {
      let killed = 0
      const counts = await chargeWhile(500, async (soFar) => {
        const endMs = performance.now() + killingMs
        const killer = await database.open({ size: 1 }).take()
        const isEnough = () => killed > ENOUGH && performance.now() >= endMs && hasFailed(soFar)
        try {
          for (let round = 0; round < 300 && !isEnough(); round++) {
            await pause(everyMs)
            for (const { id } of await killer.run(others)) {
              await killer.run(kill(id)).catch(() => undefined) // it may have ended meanwhile
              killed++
            }
          }
        } finally {
          killer.release()
        }
      })
      expect(killed).toBeGreaterThan(ENOUGH)
      expect(hasFailed(counts)).toBe(true) // a killed connection may have been idle
      await expectNothingHalfTaken(counts)
      await expectWhole()
    })

    test('lose the server until it restarts: every charge is all or nothing, and the pools are whole', async () => {
      const counts = await chargeWhile(aroundMs, async () => {
        await pause(aroundMs / 2)
        await database.server.kill()
        await pause(300)
        await database.server.restart()
        await pause(aroundMs) // they find it again
      })
      await expectNothingHalfTaken(counts)
      await expectWhole()
      const later = await chargeWhile(500, async () => undefined)
      expect(later.map(({ texts }) => texts)).toEqual(later.map(() => []))
      await expectNothingHalfTaken(later)
    })
  })
}

const hasFailed = (counts: readonly PairCounts[]) => counts.some(({ texts }) => texts.length > 0)
