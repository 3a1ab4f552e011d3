import { timeout } from '../../util/timeout.js'
import type { Dialect } from './dialect.js'

type Pool<Connection> = Pick<Dialect<Connection>, 'acquire' | 'release' | 'destroy' | 'rollback'>

/** How long the store waits for a connection, and then for what it does with it. */
const DEADLINE_MS = 5000
const NO_CONNECTION = `no connection of the pool was free within ${DEADLINE_MS} ms: raise the pool's limit, or give the store a pool of its own`

const inTime = timeout(DEADLINE_MS)

/**
 * Runs `use` with a connection of the pool and releases it: after a failure rolled back, or destroyed where
 * that fails or takes too long. Rejects with what `use` rejects with, or when a deadline is over.
 */
export async function withConnection<Connection, T>(
  pool: Pool<Connection>,
  use: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await acquire(pool)
  let isLate = false
  try {
    const result = await inTime(use(connection), () => {
      isLate = true
    })
    pool.release(connection)
    return result
  } catch (error) {
    if (!isLate && (await canRollBack(pool, connection))) pool.release(connection)
    else pool.destroy(connection)
    throw error
  }
}

async function acquire<Connection>(pool: Pool<Connection>): Promise<Connection> {
  const acquiring = pool.acquire()
  let isLate = false
  try {
    return await inTime(acquiring, () => {
      isLate = true
    })
  } catch (error) {
    if (!isLate) throw error
    acquiring.then(pool.release, () => undefined)
    throw new Error(NO_CONNECTION)
  }
}

function canRollBack<Connection>(pool: Pool<Connection>, connection: Connection): Promise<boolean> {
  return inTime(pool.rollback(connection)).then(
    () => true,
    () => false,
  )
}
