import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { concurrency, createLimiter, fixedWindow, StoreError } from 'headgate'
import { sqliteSchema, sqliteStore } from 'headgate/sqlite'
import type { SqliteDatabase } from '../../../src/stores/sql/sqlite/client.js'
import type { Parts } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore, forgetStore } from '../../support/store-calls.js'
import { newFile, openStore } from './open.js'

const policy = fixedWindow({ limit: 5, window: '1d' })
const chargeOf = (key: string): Parts => [{ key, policy, cost: 1 }]

function rejection(message: RegExp, replied = false, unsent = !replied) {
  return (error: unknown) => {
    assert.ok(error instanceof StoreError, String(error))
    assert.match(error.message, message)
    assert.deepEqual(
      { store: error.store, replied: error.replied, unsent: error.unsent },
      { store: 'sqlite', replied, unsent },
    )
    return true
  }
}

const WRONG: readonly (readonly [unknown, object | undefined, RegExp])[] = [
  [
    undefined,
    undefined,
    /^TypeError: sqliteStore: database must be a DatabaseSync from node:sqlite, got undefined\. Write sqliteStore\(new DatabaseSync\('limits\.db'\)\)\.$/,
  ],
  ['limits.db', undefined, /^TypeError: sqliteStore: database must be .*, got a string/],
  [
    { exec() {}, prepare() {}, open: true },
    undefined,
    /^TypeError: sqliteStore: database must be .*, got an object/,
  ],
  [new DatabaseSync(':memory:'), { table: 'a b' }, /^TypeError: sqliteStore: table must be a name/],
  [new DatabaseSync(':memory:'), { clock: 5 }, /^TypeError: sqliteStore: clock must be a function/],
  [
    new DatabaseSync(':memory:'),
    { tabel: 'limits' },
    /^TypeError: sqliteStore: there is no option "tabel". Did you mean table\?/,
  ],
]

test('wrong arguments throw with the fix', () => {
  for (const [database, options, message] of WRONG)
    assert.throws(() => sqliteStore(database as SqliteDatabase, options as object), message)
})

test('without its table, the error names prepare()', async () => {
  const store = sqliteStore(new DatabaseSync(':memory:'))
  await assert.rejects(
    async () => chargeStore(store, [chargeOf('key')]),
    rejection(
      /^sqlite: no such table: headgate\. Await the store's prepare\(\) .* or run the SQL that sqliteSchema\(\) returns\.$/,
    ),
  )
})

test('the SQL of sqliteSchema() makes the table', async () => {
  const database = new DatabaseSync(':memory:')
  database.exec(sqliteSchema({ table: 'limits' }))
  database.exec(sqliteSchema({ table: 'limits' })) // changes nothing
  const [verdict] = await chargeStore(sqliteStore(database, { table: 'limits' }), [chargeOf('key')])
  assert.equal(verdict?.allowed, true)
})

test('a table of an attached database', async (t) => {
  const database = new DatabaseSync(':memory:')
  t.after(() => database.close())
  database.exec(`ATTACH '${newFile(t)}' AS limits`)
  const store = sqliteStore(database, { table: 'limits.clients' })
  await store.prepare()
  await chargeStore(store, [chargeOf('key')])
  assert.equal(database.prepare('SELECT count(*) AS rows FROM limits.clients').get()?.rows, 1)
})

test('a charge waits for the lock of another connection, without blocking the event loop', async (t) => {
  const path = newFile(t)
  const { store } = await openStore(t, path)
  const other = new DatabaseSync(path)
  t.after(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  let isDecided = false
  const charging = Promise.resolve(chargeStore(store, [chargeOf('key')])).finally(() => {
    isDecided = true
  })
  for (let turn = 0; turn < 5; turn++) await pause(5)
  assert.equal(isDecided, false)
  other.exec('COMMIT')
  assert.equal((await charging)[0]?.allowed, true)
})

test('a lock that is held for long fails the charge, and the next one passes', async (t) => {
  const path = newFile(t)
  const { store } = await openStore(t, path)
  const other = new DatabaseSync(path)
  t.after(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  await assert.rejects(
    async () => chargeStore(store, [chargeOf('key')]),
    rejection(/^sqlite: database is locked/),
  )
  other.exec('COMMIT')
  const [verdict] = await chargeStore(store, [chargeOf('key')])
  assert.equal(verdict?.parts[0]?.remaining, 4)
})

test('a unit that is released while the file stays locked is free once it is unlocked', async (t) => {
  const path = newFile(t)
  const { store } = await openStore(t, path)
  const other = new DatabaseSync(path)
  t.after(() => other.close())
  const one = concurrency({ limit: 1, ttl: '1h' })
  const limiter = createLimiter({ name: 'jobs', store, policy: one, key: (id: string) => id, timeout: '10s' })
  const held = await limiter.charge('ada')
  other.exec('BEGIN IMMEDIATE')
  await limiter.release(held)
  assert.equal((await limiter.peek('ada')).source, 'local')
  other.exec('COMMIT')
  while (!(await limiter.charge('ada')).allowed) await pause(20)
  await limiter.close()
})

test('a transaction of the application on the same connection fails charges, and stays open', async (t) => {
  const { database, store } = await openStore(t, newFile(t))
  database.exec('CREATE TABLE orders (id INTEGER)')
  database.exec('BEGIN')
  database.exec('INSERT INTO orders VALUES (1)')
  await assert.rejects(
    async () => chargeStore(store, [chargeOf('key')]),
    rejection(/within a transaction\. Open a separate database for the store\.$/),
  )
  database.exec('COMMIT')
  assert.equal(database.prepare('SELECT count(*) AS rows FROM orders').get()?.rows, 1)
  assert.equal((await chargeStore(store, [chargeOf('key')]))[0]?.allowed, true)
})

test('a corrupt row fails the charges of its key alone, until the key is forgotten', async (t) => {
  const { database, store } = await openStore(t, newFile(t))
  const rows = ["x'00'", "x'ffffffffffffffff'", "x''"]
  const insert = (state: string, i: number) =>
    database.exec(`INSERT INTO headgate VALUES ('corrupt-${i}', ${state}, 9999999999)`)
  rows.forEach(insert)
  const outcomes = await Promise.allSettled([
    ...rows.map((_, i) => chargeStore(store, [chargeOf(`corrupt-${i}`)])),
    chargeStore(store, [chargeOf('key')]),
  ])
  for (const outcome of outcomes.slice(0, -1)) {
    assert.equal(outcome.status, 'rejected')
    rejection(/^sqlite: the key .* holds a value that is not a state of its policy/, true)(outcome.reason)
  }
  assert.equal(outcomes.at(-1)?.status, 'fulfilled')
  await forgetStore(store, [{ key: 'corrupt-0', policy }])
  assert.equal((await chargeStore(store, [chargeOf('corrupt-0')]))[0]?.allowed, true)
})

test('a file that cannot be written is reported by prepare()', async (t) => {
  const path = newFile(t)
  const { database } = await openStore(t, path)
  database.close()
  const readOnly = new DatabaseSync(path, { readOnly: true })
  t.after(() => readOnly.close())
  await assert.rejects(
    sqliteStore(readOnly).prepare(),
    rejection(/^sqlite: attempt to write a readonly database\. Open the file for writing/, false, false),
  )
})

test('a table with other columns is reported by prepare()', async (t) => {
  const database = new DatabaseSync(newFile(t))
  t.after(() => database.close())
  database.exec('CREATE TABLE headgate (id INTEGER PRIMARY KEY, expires_at INTEGER)')
  await assert.rejects(
    sqliteStore(database).prepare(),
    rejection(/The table "headgate" differs from the one that sqliteSchema\(\) creates\./, false, false),
  )
})

test('a full disk fails the charge, which takes nothing', async (t) => {
  const { database, store } = await openStore(t, newFile(t))
  await chargeStore(store, [chargeOf('key')])
  const pages = Number(database.prepare('PRAGMA page_count').get()?.page_count)
  database.exec(`PRAGMA max_page_count = ${pages}`)
  const many = Array.from({ length: 400 }, (_, i) => chargeStore(store, [chargeOf(`new-${i}`)]))
  const outcomes = await Promise.allSettled(many)
  const failed = outcomes.filter(({ status }) => status === 'rejected')
  assert.ok(failed.length > 0)
  for (const outcome of failed)
    rejection(/^sqlite: database or disk is full/)((outcome as PromiseRejectedResult).reason)
  database.exec('PRAGMA max_page_count = 100000')
  const [verdict] = await chargeStore(store, [chargeOf('key')])
  assert.equal(verdict?.parts[0]?.remaining, 3)
})

test('a database that is closed and opened again', async (t) => {
  const { database, store } = await openStore(t, newFile(t))
  await chargeStore(store, [chargeOf('key')])
  database.close()
  await assert.rejects(
    async () => chargeStore(store, [chargeOf('key')]),
    rejection(/^sqlite: database is not open/),
  )
  database.open()
  assert.equal((await chargeStore(store, [chargeOf('key')]))[0]?.parts[0]?.remaining, 3)
  database.close()
  database.open()
  assert.equal((await chargeStore(store, [chargeOf('key')]))[0]?.parts[0]?.remaining, 2)
})

test('prepare() leaves the rows and the other databases of a connection as they are', async (t) => {
  const { store } = await openStore(t, newFile(t))
  await chargeStore(store, [chargeOf('')])
  await store.prepare()
  assert.equal((await chargeStore(store, [chargeOf('')]))[0]?.parts[0]?.remaining, 3)
  const other = new DatabaseSync(newFile(t))
  t.after(() => other.close())
  other.exec(`ATTACH '${newFile(t)}' AS limits`)
  await sqliteStore(other, { table: 'limits.headgate' }).prepare()
  const modeOf = (name: string) => other.prepare(`PRAGMA ${name}.journal_mode`).get()?.journal_mode
  assert.deepEqual([modeOf('main'), modeOf('limits')], ['delete', 'wal'])
})

test('rows are read alike, however the database returns them', async (t) => {
  const path = newFile(t)
  await openStore(t, path)
  const database = new DatabaseSync(path, { readBigInts: true, returnArrays: true } as object)
  t.after(() => database.close())
  const store = sqliteStore(database)
  await chargeStore(store, [chargeOf('key')])
  assert.equal((await chargeStore(store, [chargeOf('key')]))[0]?.parts[0]?.remaining, 3)
})
