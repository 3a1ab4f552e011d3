import * as fc from 'fast-check'
import { consecutive, fixedWindow, type Policy, slidingWindow, tokenBucket } from 'headgate'
import { postgresStore } from 'headgate/postgres'
import type { Part, State } from 'headgate/store'
import { Pool } from 'pg'
import { evaluateCharge } from '../../../src/stores/shared/apply-batch.js'
import { NEVER_S } from '../../../src/stores/sql/expiry.js'
import { figures, part } from '../../../src/testing/conformance/store-calls.js'
import type { SqlServer } from '../../support/servers/databases.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { startPostgres } from '../../support/servers/postgres.js'
import { chargeStore } from '../../support/store-calls.js'

/** Long ones, whose states stay, and short ones, which real time refills while the trace runs. */
const POLICIES: readonly Policy[] = [
  tokenBucket({ capacity: 5, refill: 7, every: '1h' }),
  tokenBucket({ capacity: 1000, refill: 999, every: '1d' }),
  tokenBucket({ capacity: 3, refill: 700, every: '1s' }),
  fixedWindow({ limit: 3, window: '1d' }),
  fixedWindow({ limit: 4, window: '5ms' }),
  fixedWindow({ limit: 3, window: '1d', startsAt: 'first-request' }),
  fixedWindow({ limit: 4, window: '5ms', startsAt: 'first-request' }),
  consecutive({ limit: 4 }),
  slidingWindow({ limit: 5, window: '17ms', slices: 4 }),
  slidingWindow({ limit: 3, window: '40ms', slices: 1 }),
  slidingWindow({ limit: 6, window: '1d', slices: 7 }),
]

/**
 * What is done to a key: a charge, which goes alone, with another one, or of this key and one or two others, or a
 * charge of a state from elsewhere.
 */
interface Step {
  readonly policy: number
  readonly share: number
  readonly how: 'alone' | 'together' | 'set'
  readonly ahead: number
  /** The policies of the other parts, and what each part costs more. */
  readonly others: readonly { readonly policy: number; readonly more: number }[]
}

const step: fc.Arbitrary<Step> = fc.record({
  policy: fc.nat(POLICIES.length - 1),
  share: fc.nat(1005),
  how: fc.constantFrom('alone', 'alone', 'alone', 'together', 'set'),
  ahead: fc.oneof(
    fc.integer({ min: -3, max: 3 }),
    fc.integer({ min: -2000, max: 2000 }).map((n) => n / 1000),
    fc.constant(1e5),
  ),
  others: fc.oneof(
    fc.constant([]),
    fc.array(fc.record({ policy: fc.nat(POLICIES.length - 1), more: fc.nat(2) }), {
      minLength: 1,
      maxLength: 2,
    }),
  ),
})

/** A denial that brings an empty window from the future back to the present, which leaves a fresh state. */
const FRESH_AFTER_DENIAL: readonly Step[] = [
  { policy: 3, share: 0, how: 'set', ahead: 1e5, others: [] },
  { policy: 3, share: 4, how: 'alone', ahead: 0, others: [] },
]

/**
 * States by kind that were written by a clock that is ahead, or behind, by so many windows, perhaps under a larger
 * limit.
 */
function stateFrom({ spec, limit, windowMs }: Policy, nowMs: number, ahead: number, share: number): State {
  const count = share % (limit + 3)
  const atMs = nowMs + ahead * windowMs
  switch (spec.kind) {
    case 'token-bucket':
      return [count + (share % 7) / 7, Math.floor(atMs * 4096) / 4096]
    case 'fixed-window':
      return [count, atMs]
    case 'first-request-window':
      return [Math.max(1, count), atMs] // one of 0 is removed
    case 'consecutive':
      return [count]
    case 'sliding-window': {
      const { slices } = spec
      const slice = Math.floor((Math.floor(nowMs) * slices) / windowMs) + Math.trunc(ahead)
      return [slice, ...Array.from({ length: slices + 1 }, (_, i) => (share + i) % 3)]
    }
    default:
      throw new Error(`No single statement takes units of ${spec.kind}.`)
  }
}

/** Defines the tests of decisions that PostgreSQL makes by itself, on so many random traces. */
export function describeSingleStatement({ traces }: { traces: number }): void {
  let server: SqlServer
  let pool: Pool

  beforeAll(async () => {
    server = await startPostgres()
    pool = new Pool({ connectionString: server.url, options: '-c synchronous_commit=off' })
    pool.on('error', () => {}) // it ends while the server does
    await postgresStore(pool).prepare()
  }, INSTALL_TIMEOUT_MS)

  afterAll(async () => {
    await pool?.end()
    await server?.stop()
  })

  async function rowOf(key: string): Promise<{ state: State; expiresAtS: number } | undefined> {
    const { rows } = await pool.query('SELECT state, expires_at FROM headgate WHERE key = $1', [
      Buffer.from(key),
    ])
    return rows[0] && { state: rows[0].state, expiresAtS: Number(rows[0].expires_at) }
  }

  test('on random traces, a single statement decides as the TypeScript policies do', async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), compare), {
      numRuns: traces,
      examples: [[FRESH_AFTER_DENIAL]],
    })
  })

  async function compare(steps: readonly Step[]): Promise<void> {
    await pool.query('DELETE FROM headgate')
    const store = postgresStore(pool)
    const model = new Map<string, State>()
    let nowMs = Date.now()
    for (const { policy: at, share, how, ahead, others } of steps) {
      const policy = POLICIES[at] as Policy
      const wanted = part(`key:${at}`, policy, share % (policy.limit + 3))
      if (how === 'set') {
        const state = stateFrom(policy, nowMs, ahead, share)
        await setState(wanted.key, state)
        model.set(wanted.key, state)
      }
      const also = others.map((other) =>
        part(`key:${other.policy}`, POLICIES[other.policy] as Policy, 1 + other.more),
      )
      nowMs = await expectAsModelled([wanted, ...also], how)
    }

    /** Checks every figure, the states at rest, and that the rows are kept for as long as they are needed. */
    async function expectAsModelled(wanted: readonly Part[], how: Step['how']): Promise<number> {
      const also = how === 'together' ? [[part('another', (wanted[0] as Part).policy, 0)]] : []
      const [verdict] = await chargeStore(store, [wanted, ...also])
      if (verdict === undefined) throw new Error('The store returned no verdict.')
      const { allowed, atMs, parts } = verdict
      const expected = evaluateCharge(wanted, (key) => model.get(key), atMs)
      expect({ allowed, parts: parts.map(figures) }).toEqual({
        allowed: expected.verdict.allowed,
        parts: expected.verdict.parts.map(figures),
      })
      for (const [key, { policy, state }] of expected.writes) {
        const { resetAfterMs } = policy.take(state, atMs, 0)
        if (resetAfterMs === 0) {
          model.delete(key) // a fresh state needs no row
          continue
        }
        model.set(key, state)
        const freshAtMs = atMs + resetAfterMs
        expect((await rowOf(key))?.expiresAtS).toBeGreaterThanOrEqual(Math.min(freshAtMs / 1000, NEVER_S))
      }
      for (const { key } of wanted) expect((await rowOf(key))?.state).toEqual(model.get(key))
      return atMs
    }
  }

  test('a window from the first request ends at its moment, to less than a millisecond', async () => {
    await pool.query('DELETE FROM headgate')
    const policy = fixedWindow({ limit: 1, window: '1s', startsAt: 'first-request' })
    const store = postgresStore(pool)
    const decided = { allowed: 0, denied: 0 }
    const areBothSeen = () => Math.min(decided.allowed, decided.denied) > 5
    for (let i = 0; i < 80 || (i < 2000 && !areBothSeen()); i++) {
      const key = `border-${i}`
      const [before] = await chargeStore(store, [[part(key, policy, 0)]])
      const state = [1, (before?.atMs ?? 0) - 1000 + (i % 400) / 20] // ends in up to 4 ms, or 20 on a slow machine
      await setState(key, state)
      const [verdict] = await chargeStore(store, [[part(key, policy)]])
      expect(verdict).toMatchObject({ allowed: policy.take(state, verdict?.atMs ?? 0, 1).allowed })
      decided[verdict?.allowed ? 'allowed' : 'denied']++
    }
    expect([decided, areBothSeen()]).toEqual([decided, true])
  })

  async function setState(key: string, state: State): Promise<void> {
    const sql = `INSERT INTO headgate VALUES ($1, $2, 4000000000) ON CONFLICT (key) DO UPDATE SET state = excluded.state`
    await pool.query(sql, [Buffer.from(key), state])
  }
}
