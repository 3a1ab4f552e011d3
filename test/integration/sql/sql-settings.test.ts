import { mysqlStore } from 'headgate/mysql'
import { createPool } from 'mysql2'
import { types } from 'pg'
import { type Case, testTogether } from '../../support/servers/together.js'
import { AWKWARD_KEYS } from './awkward-keys.js'
import type { Kind, PoolOptions } from './database-kind.js'
import { expectKeptApart, expectWholeFigures, SAMPLES } from './kept-apart.js'
import { mariadb } from './mariadb-kind.js'
import { postgres } from './postgres-kind.js'
import { DATABASES, type DatabaseSetup, setUpDatabase } from './set-up-database.js'

/** boolean, bytea, bigint, integer, text, real, double precision, its arrays, numeric. */
const OIDS = [16, 17, 20, 23, 25, 700, 701, 1022, 1700]

/** Settings and options that a user's connections may have. */
const CHOICES: Readonly<Record<Kind['name'], readonly PoolOptions[]>> = {
  mysql: [
    ...[
      "sql_mode=''",
      "sql_mode='ANSI_QUOTES'",
      "sql_mode='NO_BACKSLASH_ESCAPES'",
      "sql_mode='ANSI,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,IGNORE_SPACE,HIGH_NOT_PRECEDENCE'",
      "sql_mode='TRADITIONAL,NO_UNSIGNED_SUBTRACTION,PAD_CHAR_TO_FULL_LENGTH'",
      "sql_mode='ORACLE'",
      "time_zone='+11:00'",
      "collation_connection='utf8mb4_bin'",
      "character_set_connection='utf16'",
      "character_set_results='latin1'",
      'sql_safe_updates=1',
      'sql_select_limit=3',
      "tx_isolation='SERIALIZABLE'",
      "tx_isolation='READ-UNCOMMITTED'",
      'autocommit=0',
      'completion_type=1',
      'innodb_lock_wait_timeout=1',
    ].map((setting) => ({ settings: [setting] })),
    ...[
      { rowsAsArray: true },
      { rowsAsArray: false },
      { nestTables: true },
      { decimalNumbers: true },
      { supportBigNumbers: true, bigNumberStrings: true },
      { namedPlaceholders: true },
      { typeCast: false },
      { typeCast: (field: { string(): string | null }) => field.string() },
      { typeCast: () => 'nothing that a driver gives' },
      { dateStrings: true },
      { timezone: '+05:45' },
      { charset: 'latin1_swedish_ci' },
      { charset: 'utf8mb4_unicode_ci' },
      { multipleStatements: true },
      { flags: '-FOUND_ROWS' },
      { disableEval: true },
      { stringifyObjects: true },
      { maxPreparedStatements: 1 },
      { compress: true },
    ].map((driver) => ({ driver })),
  ],
  postgres: [
    ...[
      'standard_conforming_strings=off',
      'bytea_output=escape',
      'timezone=Asia/Kathmandu',
      'datestyle=SQL,DMY',
      'intervalstyle=iso_8601',
      'extra_float_digits=3',
      'extra_float_digits=0',
      'extra_float_digits=-15',
      'array_nulls=off',
      'backslash_quote=off',
      'escape_string_warning=on',
      'transform_null_equals=on',
      'quote_all_identifiers=on',
      'enable_indexscan=off',
      'plan_cache_mode=force_generic_plan',
      'default_transaction_isolation=serializable',
      'default_transaction_isolation=repeatable\\ read',
      'default_transaction_deferrable=on',
      'lock_timeout=1000',
    ].map((setting) => ({ settings: [setting] })),
    ...[
      { binary: true },
      { types: { getTypeParser: () => () => 'nothing that a driver gives' } },
      { query_timeout: 5000 },
      { statement_timeout: 5000 },
      { pipeline: true },
      { maxUses: 3 },
      { allowExitOnIdle: true },
    ].map((driver) => ({ driver })),
  ],
}

const SETUPS: Readonly<Record<Kind['name'], DatabaseSetup>> = {
  mysql: setUpDatabase(mariadb),
  postgres: setUpDatabase(postgres),
}

/**
 * Every fifth of the awkward keys and of the policies, beginning with another one for each case, so that the
 * cases cover them all.
 */
async function expectUsual(database: DatabaseSetup, options: PoolOptions = {}, i = 0): Promise<void> {
  const { store, pool, table } = await database.makeStore({ ...options, size: 3 })
  const others = database.open({ size: 3 })
  try {
    const isDue = (_each: unknown, at: number) => at % 5 === i % 5
    const keys = AWKWARD_KEYS.filter(isDue)
    await expectKeptApart(store, others.makeStore({ table }), keys)
    await expectWholeFigures(store, SAMPLES.filter(isDue))
  } finally {
    await pool.end()
    await others.end()
  }
}

describe.each(DATABASES)('on %s', (_name, kind) => {
  const caseOf = (options: PoolOptions, i: number): Case => [
    `keys and figures do not depend on ${nameOf(options)}`,
    () => expectUsual(SETUPS[kind.name], options, i),
  ]
  testTogether(CHOICES[kind.name].map(caseOf))
})

test('a pool with callbacks gives the same as one with promises', async () => {
  const pool = createPool(SETUPS.mysql.server.url)
  try {
    const store = mysqlStore(pool)
    await store.prepare()
    await expectKeptApart(store)
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

  test('keys and figures do not depend on them', () => expectUsual(SETUPS.postgres))
})

function nameOf({ settings = [], driver = {} }: PoolOptions): string {
  const shown = Object.entries(driver).map(([name, value]) => `${name}: ${JSON.stringify(value) ?? value}`)
  return [...settings, ...shown].join(', ')
}
