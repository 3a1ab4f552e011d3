import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { remainingOf } from '../../conformance/kit.js'
import { until } from '../../servers/wait.js'
import { type Child, startChildren } from '../memcached/children.js'
import { DATABASES, type Kind, surroundings } from './kit.js'
import { childArgs } from './open-in-child.js'
import { keysOfPair, PAIR_POLICY, type PairCounts } from './pairs.js'

const PROCESSES = 2
const PAIRS = 12
const CALLERS = 40
const POOL = 10

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

describe.each(DATABASES)('on %s, two processes that charge pairs of keys', (_name, kind) => {
  const around = surroundings(kind, { own: true })
  const { others, kill, open } = SESSIONS[kind.name]
  let children: Child[] = []
  let table: string

  beforeAll(async () => {
    table = await around.makeTable()
    const module = join(__dirname, 'pairs-child.ts')
    children = startChildren(module, PROCESSES, childArgs(kind, around.server.url, table))
    await expectWhole() // all are there
  }, 60_000)

  afterAll(() => {
    for (const child of children) child.end()
  })

  async function expectWhole(): Promise<void> {
    const taken = await Promise.all(children.map((child) => child.ask<number>({ take: POOL })))
    expect(taken).toEqual(children.map(() => POOL))
    await until('no transaction is open', async () => {
      const [row] = await around.server.query(open)
      return Number(row?.count) === 0
    })
  }

  /** What came of charges while something is done to the server. None of the processes may end. */
  async function chargeWhile(forMs: number, harm: () => Promise<void>): Promise<PairCounts[]> {
    const answers = children.map((child) => child.ask<PairCounts>({ pairs: PAIRS, callers: CALLERS, forMs }))
    const settled = Promise.all(answers)
    await Promise.all([settled, harm()])
    return settled
  }

  /** Both keys of a pair have the same, and no less than was allowed, and no more than that and what failed. */
  async function expectNothingHalfTaken(counts: readonly PairCounts[]): Promise<void> {
    const store = around.open().makeStore({ table })
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
    await store.forget(
      Array.from({ length: PAIRS }, (_, pair) => keysOfPair(pair))
        .flat()
        .map((key) => ({ key, policy: PAIR_POLICY })),
    )
  }

  test('lose them again and again: nothing is half taken, and their pools are whole', async () => {
    let killed = 0
    const counts = await chargeWhile(4000, async () => {
      for (let round = 0; round < 30; round++) {
        await pause(100)
        for (const { id } of await around.server.query(others)) {
          await around.server.query(kill(id)).catch(() => undefined) // it may have ended meanwhile
          killed++
        }
      }
    })
    expect(killed).toBeGreaterThan(30)
    expect(counts.flatMap(({ texts }) => texts)).not.toEqual([])
    await expectNothingHalfTaken(counts)
    await expectWhole()
  })

  test('lose the server, which is killed and comes back: the same', async () => {
    const counts = await chargeWhile(12_000, async () => {
      await pause(1000)
      await around.server.kill()
      await pause(500)
      await around.server.restart()
    })
    await expectNothingHalfTaken(counts)
    await expectWhole()
    const later = await chargeWhile(500, async () => undefined)
    expect(later.map(({ texts }) => texts)).toEqual(later.map(() => []))
    await expectNothingHalfTaken(later)
  }, 60_000)
})
