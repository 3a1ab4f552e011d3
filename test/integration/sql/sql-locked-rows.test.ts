import { setTimeout as pause } from 'node:timers/promises'
import { consecutive } from 'headgate'
import type { SqlStore } from 'headgate/postgres'
import type { ChargeResult, MaybePromise } from 'headgate/store'
import { allowedCount, part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { type Case, testTogether } from '../../support/servers/together.js'
import { chargeStore } from '../../support/store-calls.js'
import type { Kind } from './database-kind.js'
import { failureOf } from './failures.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

const policy = consecutive({ limit: 100 })
const LOCKED_MS = 1500

/** A server gives up a wait for a lock sooner than the lock is released. */
const IMPATIENT: Readonly<Record<Kind['name'], string>> = {
  mysql: 'innodb_lock_wait_timeout=1',
  postgres: 'lock_timeout=500',
}

type Charging = (store: SqlStore, key: string) => MaybePromise<readonly ChargeResult[]>

const CHARGINGS: readonly (readonly [string, Charging])[] = [
  ['a single charge', (store, key) => chargeStore(store, [[part(key, policy)]])],
  ['a charge of two parts', (store, key) => chargeStore(store, [[part(key, policy), part('free', policy)]])],
  ['charges in one batch', (store, key) => chargeStore(store, [[part(key, policy)], [part('free', policy)]])],
]

/** Each has a table of its own, and most of them only wait: so they do it all together. */
describe.each(DATABASES)('on %s', (_name, kind) => {
  const database = setUpDatabase(kind)

  /** Does something while somebody else's transaction holds the row of a key. */
  async function whileLocked(table: string, key: string, run: () => Promise<void>): Promise<void> {
    const session = await database.open({ size: 1 }).take()
    try {
      await session.run('START TRANSACTION')
      const where = `${kind.quote('key')} = '${key}'`
      expect(await session.run(`SELECT 1 FROM ${table} WHERE ${where} FOR UPDATE`)).toHaveLength(1)
      await run()
    } finally {
      await session.run('ROLLBACK')
      session.release()
    }
  }

  async function waits(charge: Charging): Promise<void> {
    const { store, table } = await database.makeStore()
    await chargeStore(store, [[part('locked', policy)]])
    let isDecided = false
    let waiting: Promise<readonly ChargeResult[]> = Promise.resolve([])
    await whileLocked(table, 'locked', async () => {
      waiting = Promise.resolve(charge(store, 'locked')).finally(() => {
        isDecided = true
      })
      await chargeOthers(store)
      expect(isDecided).toBe(false)
    })
    const verdicts = await waiting
    expect(allowedCount(verdicts)).toBe(verdicts.length)
    expect(await remainingOf(store, policy, ['locked'])).toEqual([98])
  }

  async function waitsLonger(charge: Charging): Promise<void> {
    const { store, table } = await database.makeStore({ settings: [IMPATIENT[kind.name]] })
    await chargeStore(store, [[part('locked', policy)]])
    let waiting: Promise<readonly ChargeResult[]> = Promise.resolve([])
    await whileLocked(table, 'locked', async () => {
      waiting = Promise.resolve(charge(store, 'locked'))
      waiting.catch(() => undefined) // it is awaited later
      await pause(LOCKED_MS)
    })
    const verdicts = await waiting
    expect(allowedCount(verdicts)).toBe(verdicts.length)
    expect(await remainingOf(store, policy, ['locked'])).toEqual([98])
  }

  async function failsAsAWhole(): Promise<void> {
    const { store, pool, table } = await database.makeStore()
    const others = database.open({ size: 1 }).makeStore({ table })
    await chargeStore(store, [[part('a free one', policy), part('locked', policy)]])
    await whileLocked(table, 'locked', async () => {
      const charge = [part('a free one', policy), part('locked', policy)]
      const failure = await failureOf(kind, chargeStore(store, [charge]))
      expect(failure.message).toMatch(/lock/i)
      expect(failure).toMatchObject({ replied: true, unsent: true })
      expect(await remainingOf(others, policy, ['a free one'])).toEqual([99])
      expect(allowedCount(await chargeStore(others, [[part('a free one', policy)]]))).toBe(1)
    })
    expect(await remainingOf(pool.makeStore({ table }), policy, ['a free one', 'locked'])).toEqual([98, 99])
  }

  async function failsAlone(): Promise<void> {
    const { store, table } = await database.makeStore()
    await chargeStore(store, [[part('locked', policy)]])
    await whileLocked(table, 'locked', async () => {
      await failureOf(kind, chargeStore(store, [[part('locked', policy)]]))
    })
    await pause(200)
    const [left] = await remainingOf(store, policy, ['locked'])
    expect([98, 99]).toContain(left) // it may be counted when it gets the row
  }

  async function leavesConnections(): Promise<void> {
    const { store, pool, table } = await database.makeStore({ size: 5 })
    await chargeStore(store, [[part('locked', policy)]])
    const waiting: Promise<unknown>[] = []
    await whileLocked(table, 'locked', async () => {
      for (let i = 0; i < 50; i++) {
        waiting.push(Promise.resolve(chargeStore(store, [[part('locked', policy)]])))
        await pause(10)
      }
      await expect(pool.run('SELECT 1')).resolves.toHaveLength(1)
      await chargeOthers(store)
    })
    await Promise.all(waiting)
    expect(await remainingOf(store, policy, ['locked'])).toEqual([49])
  }

  const CASES: readonly Case[] = [
    ...CHARGINGS.map(([title, charge]): Case => {
      return [`${title} of a locked row waits, and later batches go on meanwhile`, () => waits(charge)]
    }),
    ...CHARGINGS.map(([title, charge]): Case => {
      return [`${title} waits even if the server has a shorter lock time-out`, () => waitsLonger(charge)]
    }),
    [
      'a charge of a row that stays locked fails in the end, takes nothing, and unlocks the other rows',
      failsAsAWhole,
    ],
    ['a single charge of a row that stays locked fails in the end', failsAlone],
    ['steady traffic on a locked row leaves connections of the pool to others', leavesConnections],
  ]
  testTogether(CASES, { atOnce: CASES.length })
})

/** Charges other keys, one after the other, beginning a little later. */
async function chargeOthers(store: SqlStore): Promise<void> {
  await pause(60)
  for (let i = 0; i < 5; i++) {
    const verdicts = await chargeStore(store, [[part(`other:${i}`, policy)]])
    expect(allowedCount(verdicts)).toBe(1)
  }
}
