import type { Store } from 'headgate'
import { compareAndSwapStore, transactionStore } from 'headgate/store'
import type { Redis } from 'ioredis'
import type { Pool, PoolClient } from 'pg'

/** Replaces the value of a key if it is still the expected one. An empty value is a missing key. */
const SWAP = `
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2]) end
return 1`

/** Creates a store of the builder for conditional writes, over Redis. The version of a state is its text. */
export function swappingStore(client: Redis): Store {
  return compareAndSwapStore<string>({
    name: 'swapping',
    async read(keys) {
      const texts = await client.mget(...keys)
      return texts.map((text) => (text === null ? undefined : { state: JSON.parse(text), version: text }))
    },
    async swap({ key, version = '', state }) {
      return (await client.eval(SWAP, 1, key, version, state ? JSON.stringify(state) : '')) === 1
    },
  })
}

/** The table of `lockingStore`. */
export const LOCKING_TABLE = 'CREATE TABLE states (key text PRIMARY KEY, state json)'

const TEMPORARY = ['40001', '40P01'] // a serialization failure, a deadlock
const DUPLICATE = '23505'

const codeOf = (error: unknown) => (error as { code?: string }).code ?? ''

/** Creates a store of the builder for transactions, over PostgreSQL. */
export function lockingStore(pool: Pool): Store {
  return transactionStore<PoolClient>({
    name: 'locking',
    async transaction(run) {
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        const result = await run(client)
        await client.query('COMMIT')
        return result
      } catch (error) {
        await client.query('ROLLBACK')
        throw error
      } finally {
        client.release()
      }
    },
    async lockAndRead(client, keys) {
      const select = 'SELECT key, state FROM states WHERE key = ANY($1) ORDER BY key COLLATE "C" FOR UPDATE'
      const { rows } = await client.query(select, [keys])
      const clock = await client.query('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now')
      return { states: new Map(rows.map(({ key, state }) => [key, state])), nowMs: Number(clock.rows[0].now) }
    },
    async write(client, writes) {
      for (const { key, state, isNew } of writes) {
        const text = JSON.stringify(state)
        if (state === undefined) await client.query('DELETE FROM states WHERE key = $1', [key])
        else if (isNew) await client.query('INSERT INTO states VALUES ($1, $2)', [key, text])
        else await client.query('UPDATE states SET state = $2 WHERE key = $1', [key, text])
      }
    },
    isTemporary: (error) => TEMPORARY.includes(codeOf(error)),
    isDuplicate: (error) => codeOf(error) === DUPLICATE,
  })
}
