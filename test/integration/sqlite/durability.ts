import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { statSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { consecutive, fixedWindow } from 'headgate'
import { manualClock } from 'headgate/testing'
import { sqliteDialect } from '../../../src/stores/sql/sqlite/dialect.js'
import { chargingProcess } from '../../support/charging-processes.js'
import { chargeStore } from '../../support/store-calls.js'
import { faultsIn } from '../../support/tally.js'
import { newFile, openStore } from './open.js'

const policy = consecutive({ limit: 1_000_000 })
const peek = [[{ key: 'key', policy, cost: 0 }]]

test('states are there when the file is opened again', async (t) => {
  const path = newFile(t)
  const first = await openStore(t, path)
  await chargeStore(first.store, [[{ key: 'key', policy, cost: 7 }]])
  await first.store.close()
  first.database.close()
  const { store } = await openStore(t, path)
  const [verdict] = await chargeStore(store, peek)
  assert.equal(verdict?.parts[0]?.remaining, 1_000_000 - 7)
})

test('a process that is killed loses no charge that was allowed, and doubles none', async (t) => {
  const path = newFile(t)
  const child = fork(fileURLToPath(new URL('./charging-process.ts', import.meta.url)), [path])
  const charging = chargingProcess(child)
  await charging.reports(({ allowed }) => allowed >= 500)
  const tally = await charging.end('kill')
  const { database, store } = await openStore(t, path)
  const [verdict] = await chargeStore(store, peek)
  const taken = 1_000_000 - (verdict?.parts[0]?.remaining ?? 0)
  assert.deepEqual(faultsIn(tally, taken), { lost: 0, doubled: 0 })
  assert.deepEqual({ ...database.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' })
})

test('expired rows are removed, and others stay', async (t) => {
  const clock = manualClock()
  const { database, store } = await openStore(t, newFile(t), { clock })
  const minute = fixedWindow({ limit: 5, window: '1m' })
  const keys = Array.from({ length: 5 }, (_, i) => `minute-${i}`)
  await chargeStore(
    store,
    keys.map((key) => [{ key, policy: minute, cost: 1 }]),
  )
  await chargeStore(store, [
    [{ key: 'day', policy: fixedWindow({ limit: 5, window: '1d' }), cost: 1 }],
    [{ key: 'ever', policy, cost: 1 }],
  ])
  clock.advance('5m')
  const dialect = sqliteDialect(database, ['headgate'], clock)
  assert.equal(await dialect.removeExpired(database, 3), 3)
  assert.equal(await dialect.removeExpired(database, 3), 2)
  assert.equal(await dialect.removeExpired(database, 3), 0)
  const left = database.prepare('SELECT key FROM headgate ORDER BY key').all()
  assert.deepEqual(
    left.map(({ key }) => key),
    ['day', 'ever'],
  )
})

test('the store empties the write-ahead log now and then', async (t) => {
  const path = newFile(t)
  const stores = [await openStore(t, path), await openStore(t, path)]
  for (const { database } of stores) database.exec('PRAGMA wal_autocheckpoint = 0') // as if it came to nothing
  for (let i = 0; i < 3000; i++) {
    const { store } = stores[i % 2] as (typeof stores)[number]
    await chargeStore(store, [[{ key: `key-${i}`, policy, cost: 1 }]])
  }
  assert.ok(statSync(`${path}-wal`).size < 12_000_000, `${statSync(`${path}-wal`).size} bytes`)
})
