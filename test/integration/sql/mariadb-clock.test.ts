import { CLOCK, STATEMENT_START } from '../../../src/stores/sql/mysql/statements.js'
import type { Session } from './database-kind.js'
import { mariadb } from './mariadb-kind.js'
import { setUpDatabase } from './set-up-database.js'

/**
 * A statement takes less than this from its beginning to where it reads the clock, also on a busy machine.
 */
const SLACK_S = 1

/**
 * How far the time at which a statement began is shifted from the clock, in seconds, and what the statement
 * has waited then: local time was put on or back by the rest.
 */
const SHIFTS: readonly (readonly [shiftS: number, waitedS: number])[] = [
  [0, 0],
  [-3600, 0],
  [3600, 0],
  [-1800, 0],
  [1800, 0],
  [-2, 2],
  [-3602, 2],
  [3598, 2],
  [-1802, 2],
  [1798, 2],
  [-60, 60],
  [-3660, 60],
  [-1200, 1200],
  [30, -30],
]

/** What the connection may be set to. */
const ZONES = ['+00:00', '+05:45', '-11:00']

const database = setUpDatabase(mariadb)

describe.each(ZONES)('in the time zone %s', (zone) => {
  let session: Session

  beforeAll(async () => {
    session = await database.open({ size: 1, settings: [`time_zone='${zone}'`] }).take()
  })

  afterAll(() => session?.release())

  test.each(SHIFTS)('a start that is shifted by %d s means a wait of %d s', async (shiftS, waitedS) => {
    await session.run(`SET timestamp = UNIX_TIMESTAMP(SYSDATE(6)) + (${shiftS})`)
    const [row] = await session.run(`SELECT (${CLOCK} - ${STATEMENT_START}) / 1000000 AS waited`)
    await session.run('SET timestamp = DEFAULT')
    const waited = Number(row?.waited)
    expect(waited).toBeGreaterThanOrEqual(waitedS)
    expect(waited).toBeLessThan(waitedS + SLACK_S)
  })

  test('the clock and the start of the statement are the time, in microseconds', async () => {
    const beforeMs = Date.now()
    const [row] = await session.run(
      `SELECT ${STATEMENT_START} AS begun, ${CLOCK} AS clock, SLEEP(1) AS slept`,
    )
    const afterMs = Date.now()
    for (const micros of [row?.begun, row?.clock].map(Number)) {
      expect(micros / 1000).toBeGreaterThanOrEqual(beforeMs)
      expect(micros / 1000).toBeLessThanOrEqual(afterMs + 1)
    }
  })

  test('the start of the statement stays the same while it runs, and the clock goes on', async () => {
    const [row] = await session.run(
      `SELECT ${CLOCK} - ${STATEMENT_START} AS first, SLEEP(0.5) AS slept, ${CLOCK} - ${STATEMENT_START} AS second`,
    )
    expect(Number(row?.first)).toBeLessThan(500_000)
    expect(Number(row?.second)).toBeGreaterThanOrEqual(500_000)
  })
})
