import { setTimeout as pause } from 'node:timers/promises'
import { tokenBucket } from 'headgate'
import type { ChargeResult } from 'headgate/store'
import type { Parts } from '../../../src/testing/conformance/store-calls.js'
import { chargeOne, part } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore } from '../../support/store-calls.js'
import type { UserPool } from './database-kind.js'
import { DATABASES, setUpDatabase } from './set-up-database.js'

const HELD_MS = 700 // MariaDB waits a second
/** Empty, it is full again within twenty times as long as a row is locked. */
const FULL_MS = 20 * HELD_MS
const policy = tokenBucket({ capacity: 100, refill: 100, every: FULL_MS })

/** The state of the bucket that is empty at a time. */
const emptyAt = (atMs: number) => [100, Math.ceil(atMs)]

const CHARGES: readonly (readonly [string, readonly Parts[]])[] = [
  ['a single charge', [[part('key', policy)]]],
  ['a charge of two parts', [[part('key', policy), part('other', policy)]]],
  ['charges in one batch', [[part('key', policy)], [part('other', policy)]]],
]

describe.each(DATABASES)('on %s', (_name, kind) => {
  const database = setUpDatabase(kind)

  /** Has charges wait for a row from which another process takes a whole bucket; returns when that was. */
  async function chargeWhileAnotherTakesAll(pool: UserPool, table: string, charges: readonly Parts[]) {
    const session = await pool.take()
    await session.run('START TRANSACTION')
    await session.run(`SELECT 1 FROM ${table} WHERE ${kind.quote('key')} = 'key' FOR UPDATE`)
    const waiting = Promise.resolve(chargeStore(pool.makeStore({ table }), charges))
    await pause(HELD_MS)
    const { atMs } = await chargeOne(pool.makeStore({ table }), part('clock', policy, 0))
    const empty = kind.literal(emptyAt(atMs))
    await session.run(`UPDATE ${table} SET state = ${empty} WHERE ${kind.quote('key')} = 'key'`)
    await session.run('COMMIT')
    session.release()
    return { takenAtMs: atMs, verdicts: await waiting }
  }

  /** What came of charges that waited, of the other's, and of a look afterwards. */
  async function wait(charges: readonly Parts[]) {
    const { store, pool, table } = await database.makeStore()
    await chargeStore(store, [[part('key', policy)], [part('other', policy)]])
    const waited = await chargeWhileAnotherTakesAll(pool, table, charges)
    return { ...waited, after: await chargeOne(store, part('key', policy, 0)) }
  }

  const waits = new Map<string, Awaited<ReturnType<typeof wait>>>() // by title

  beforeAll(async () => {
    await Promise.all(CHARGES.map(async ([title, charges]) => waits.set(title, await wait(charges))))
  })

  describe.each(CHARGES)('where a row was locked for a while, %s', (title) => {
    function outcomeOf() {
      const found = waits.get(title)
      if (found === undefined) throw new Error(`No charge waited: ${title}.`)
      return found
    }

    test('is decided at the time when the lock is released', () => {
      const { takenAtMs, verdicts } = outcomeOf()
      for (const { atMs } of verdicts) expect(atMs).toBeGreaterThanOrEqual(takenAtMs)
    })

    test('is denied if another process has taken all units, and nothing is refunded', () => {
      const { takenAtMs, verdicts, after } = outcomeOf()
      const [verdict] = verdicts as [ChargeResult]
      // Denied, unless the machine paused for so long that a unit is back: exactly as the policy decides.
      expect(verdict.allowed).toBe(policy.take(emptyAt(takenAtMs), verdict.atMs, 1).allowed)
      const refilled = Math.ceil((100 * (after.atMs - takenAtMs)) / FULL_MS)
      expect(after.parts[0]?.remaining).toBeLessThanOrEqual(refilled)
    })
  })
})
