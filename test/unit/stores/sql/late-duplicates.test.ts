import { consecutive } from 'headgate'
import type { Dialect } from '../../../../src/stores/sql/dialect.js'
import { sqlStore } from '../../../../src/stores/sql/sql-store.js'
import { chargeStore } from '../../../support/store-calls.js'

const charge = [{ key: 'key', policy: consecutive({ limit: 5 }), cost: 1 }]

/** A database on which each transaction ends after two seconds, and the first one with an error. */
function slowDatabase(error: Error) {
  let nowMs = 0
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs)
  let transactions = 0
  const dialect: Dialect<string> = {
    name: 'postgres',
    table: 'headgate',
    acquire: async () => 'connection',
    release: () => undefined,
    destroy: () => undefined,
    rollback: async () => undefined,
    async transact(connection, run) {
      nowMs += 2001
      if (transactions++ === 0) throw error
      return run(connection)
    },
    lock: () => ({ states: new Map(), nowMs: 0 }),
    write: () => undefined,
    removeExpired: async () => 0,
    documents: {
      table: 'headgate_documents',
      select: async () => new Map(),
      insert: async () => false,
      update: async () => false,
    },
    prepare: async () => undefined,
  }
  return sqlStore(dialect)
}

afterEach(() => jest.restoreAllMocks())

test.each([
  ['PostgreSQL', { code: '23505' }],
  ['MySQL', { errno: 1062 }],
])(
  'a race for a new row that is lost late, on a slow %s, is tried again and reaches no caller',
  async (_, code) => {
    const store = slowDatabase(Object.assign(new Error('duplicate key value'), code))
    expect(await chargeStore(store, [charge])).toMatchObject([{ allowed: true, parts: [{ remaining: 4 }] }])
    await store.close()
  },
)

test('a deadlock as late as that fails the charge', async () => {
  const store = slowDatabase(Object.assign(new Error('deadlock detected'), { code: '40P01' }))
  await expect(chargeStore(store, [charge])).rejects.toThrow('deadlock detected')
  await store.close()
})
