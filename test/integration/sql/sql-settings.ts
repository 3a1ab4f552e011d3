import { mysqlStore } from 'headgate/mysql'
import { createPool } from 'mysql2'
import { types } from 'pg'
import { type Case, testTogether } from '../../support/servers/together.js'
import type { Extent } from '../../support/store-conformance.js'
import { AWKWARD_KEYS } from './awkward-keys.js'
import type { Kind, PoolOptions } from './database-kind.js'
import { expectKeptApart, expectWholeFigures, SAMPLES } from './kept-apart.js'
import { mariadb } from './mariadb-kind.js'
import { postgres } from './postgres-kind.js'
import { DATABASES, type DatabaseSetup, setUpDatabase } from './set-up-database.js'

/** boolean, bytea, bigint, integer, text, real, double precision, its arrays, numeric. */
const OIDS = [16, 17, 20, 23, 25, 700, 701, 1022, 1700]

/** Settings and options that a user's connections may have. */
interface Choices {
  /** Those that change what a store sends or gets the most. */
  readonly awkward: readonly PoolOptions[]
  readonly others: readonly PoolOptions[]
}

const set = (setting: string): PoolOptions => ({ settings: [setting] })
const drivenBy = (driver: object): PoolOptions => ({ driver })

const CHOICES: Readonly<Record<Kind['name'], Choices>> = {
  mysql: {
    awkward: [
      ...[
        "sql_mode='ANSI,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,IGNORE_SPACE,HIGH_NOT_PRECEDENCE'",
        "sql_mode='TRADITIONAL,NO_UNSIGNED_SUBTRACTION,PAD_CHAR_TO_FULL_LENGTH'",
        "sql_mode='ORACLE'",
        "character_set_connection='utf16'",
        "character_set_results='latin1'",
        'sql_select_limit=3',
        'autocommit=0',
      ].map(set),
      ...[
        { rowsAsArray: true },
        { nestTables: true },
        { supportBigNumbers: true, bigNumberStrings: true },
        { typeCast: () => 'nothing that a driver gives' },
        { charset: 'latin1_swedish_ci' },
        { flags: '-FOUND_ROWS' },
        { flags: '-MULTI_RESULTS' },
      ].map(drivenBy),
    ],
    others: [
      ...[
        "sql_mode=''",
        "sql_mode='ANSI_QUOTES'",
        "sql_mode='NO_BACKSLASH_ESCAPES'",
        "time_zone='+11:00'",
        "collation_connection='utf8mb4_bin'",
        'sql_safe_updates=1',
        "tx_isolation='SERIALIZABLE'",
        "tx_isolation='READ-UNCOMMITTED'",
        'completion_type=1',
        'innodb_lock_wait_timeout=1',
      ].map(set),
      ...[
        { rowsAsArray: false },
        { decimalNumbers: true },
        { namedPlaceholders: true },
        { typeCast: false },
        { typeCast: (field: { string(): string | null }) => field.string() },
        { dateStrings: true },
        { timezone: '+05:45' },
        { charset: 'utf8mb4_unicode_ci' },
        { multipleStatements: true },
        { disableEval: true },
        { stringifyObjects: true },
        { maxPreparedStatements: 1 },
        { compress: true },
      ].map(drivenBy),
    ],
  },
  postgres: {
    awkward: [
      ...[
        'standard_conforming_strings=off',
        'bytea_output=escape',
        'extra_float_digits=-15',
        'plan_cache_mode=force_generic_plan',
        'default_transaction_isolation=serializable',
      ].map(set),
      ...[
        { binary: true },
        { types: { getTypeParser: () => () => 'nothing that a driver gives' } },
        { pipeline: true },
        { maxUses: 3 },
      ].map(drivenBy),
    ],
    others: [
      ...[
        'timezone=Asia/Kathmandu',
        'datestyle=SQL,DMY',
        'intervalstyle=iso_8601',
        'extra_float_digits=3',
        'extra_float_digits=0',
        'array_nulls=off',
        'backslash_quote=off',
        'escape_string_warning=on',
        'transform_null_equals=on',
        'quote_all_identifiers=on',
        'enable_indexscan=off',
        'default_transaction_isolation=repeatable\\ read',
        'default_transaction_deferrable=on',
        'lock_timeout=1000',
      ].map(set),
      ...[{ query_timeout: 5000 }, { statement_timeout: 5000 }, { allowExitOnIdle: true }].map(drivenBy),
    ],
  },
}

/** Each case has every ninth of the awkward keys, or every fifth. There are at least as many cases. */
const KEY_STEPS = { all: 5, sample: 9 } as const

const every = (step: number, i: number) => (_each: unknown, at: number) => at % step === i % step

/**
 * Has some of the awkward keys and every fifth of the policies, beginning with another one for each case, so
 * that the cases cover them all.
 */
async function expectUsual(
  database: DatabaseSetup,
  extent: Extent,
  options: PoolOptions = {},
  i = 0,
): Promise<void> {
  const { store, pool, table } = await database.makeStore({ ...options, size: 3 })
  const others = database.open({ size: 3 })
  try {
    const keys = AWKWARD_KEYS.filter(every(KEY_STEPS[extent], i))
    await expectKeptApart(store, others.makeStore({ table }), keys)
    await expectWholeFigures(store, SAMPLES.filter(every(5, i)))
  } finally {
    await pool.end()
    await others.end()
  }
}

/** Defines the tests of connections as users set them up: of all choices, or of the awkward ones. */
export function describeSqlSettings(extent: Extent): void {
  const databases: Readonly<Record<Kind['name'], DatabaseSetup>> = {
    mysql: setUpDatabase(mariadb),
    postgres: setUpDatabase(postgres),
  }

  describe.each(DATABASES)('on %s', (_name, kind) => {
    const caseOf = (options: PoolOptions, i: number): Case => [
      `keys and figures do not depend on ${nameOf(options)}`,
      () => expectUsual(databases[kind.name], extent, options, i),
    ]
    const { awkward, others } = CHOICES[kind.name]
    testTogether([...awkward, ...(extent === 'all' ? others : [])].map(caseOf))
  })

  test('a pool with callbacks gives the same as one with promises', async () => {
    const pool = createPool(databases.mysql.server.url)
    try {
      const store = mysqlStore(pool)
      await store.prepare()
      await expectKeptApart(store, store, AWKWARD_KEYS.filter(every(KEY_STEPS[extent], 0)))
      await expectWholeFigures(store)
      await store.close()
    } finally {
      await pool.promise().end()
    }
  })

  describe('on PostgreSQL, where the process has type parsers of its own', () => {
    const usual = OIDS.map((oid) => [oid, types.getTypeParser(oid)] as const)

    beforeAll(() => {
      for (const oid of OIDS) types.setTypeParser(oid, () => 'nothing that a driver gives')
    })

    afterAll(() => {
      for (const [oid, parse] of usual) types.setTypeParser(oid, parse)
    })

    test('keys and figures do not depend on them', () => expectUsual(databases.postgres, extent))
  })
}

function nameOf({ settings = [], driver = {} }: PoolOptions): string {
  const shown = Object.entries(driver).map(([name, value]) => `${name}: ${JSON.stringify(value) ?? value}`)
  return [...settings, ...shown].join(', ')
}
