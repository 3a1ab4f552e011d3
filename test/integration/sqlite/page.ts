import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { sqliteStore } from 'headgate/sqlite'
import type { SqliteDatabase } from '../../../src/stores/sql/sqlite/client.js'
import { costsOf, costTable, DECISIONS } from '../../support/decision-costs.js'

/** Returns a database with the counts of the statements that it runs, and of the rows read and written. */
function counting(database: DatabaseSync) {
  const counts = { statements: 0, read: 0, written: 0 }
  const counted: SqliteDatabase = {
    open: () => database.open(),
    exec(sql) {
      counts.statements++
      return database.exec(sql)
    },
    prepare(sql) {
      const statement = database.prepare(sql)
      return {
        get(...values) {
          counts.statements++
          const row = statement.get(...values)
          if (row !== undefined) counts.read++
          return row
        },
        run(...values) {
          counts.statements++
          const result = statement.run(...values)
          counts.written += Number(result.changes)
          return result
        },
      }
    },
  }
  return { counts, counted }
}

test('a decision costs what the page says', async (t) => {
  t.mock.method(Math, 'random', () => 0.999) // the first purge is almost a minute away
  const database = new DatabaseSync(':memory:')
  const { counts, counted } = counting(database)
  const store = sqliteStore(counted)
  await store.prepare()
  const costs = await costsOf(store, DECISIONS, async (step) => {
    Object.assign(counts, { statements: 0, read: 0, written: 0 })
    await step()
    return Object.values(counts)
  })
  await store.close()
  database.close()
  assert.deepEqual(costTable('sqlite'), costs)
})
