import { TimeoutError, timeout } from '../../util/timeout.js'
import type { Dialect } from './dialect.js'

type Pool<Connection> = Pick<Dialect<Connection>, 'acquire' | 'release' | 'destroy' | 'rollback'>

/** How long the store waits for a connection, for its use, and for the rollback after a failure. */
const DEADLINE_MS = 5000
const NO_CONNECTION = `no connection of the pool was free within ${DEADLINE_MS} ms: raise the pool's limit, or give the store its own pool`

const withTimeout = timeout(DEADLINE_MS)

/**
 * Runs `use` with a connection of the pool and releases it. A connection whose use failed is rolled back
 * first, and destroyed if that fails. Rejects with what `use` rejects with, or when a deadline is over. If
 * the pool has no connection, `use` has not run, and this rejects with what `toUnsent` makes of the error.
 */
export async function withConnection<Connection, T>(
  pool: Pool<Connection>,
  use: (connection: Connection) => Promise<T>,
  toUnsent: (error: unknown) => unknown = (error) => error,
): Promise<T> {
  const connection = await acquire(pool).catch((error) => {
    throw toUnsent(error)
  })
  try {
    const result = await withTimeout(use(connection))
    pool.release(connection)
    return result
  } catch (error) {
    if (error instanceof TimeoutError) pool.destroy(connection)
    else {
      await withTimeout(pool.rollback(connection)).then(
        () => pool.release(connection),
        () => pool.destroy(connection),
      )
    }
    throw error
  }
}

async function acquire<Connection>(pool: Pool<Connection>): Promise<Connection> {
  const acquiring = pool.acquire()
  try {
    return await withTimeout(acquiring)
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error
    acquiring.then(pool.release, () => undefined)
    throw new Error(NO_CONNECTION)
  }
}
