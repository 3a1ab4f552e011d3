/** How long a connection is waited for, and then for what is done with it, before it is given up. */
const DEADLINE_MS = 5000

/** How a connection of a pool is had and given back. */
export interface Lending<Connection> {
  take(): Promise<Connection>
  /** Gives it back whole. */
  release(connection: Connection): void
  /** Ends a transaction that may be open. */
  rollback(connection: Connection): Promise<unknown>
  /** Closes it, so that the pool makes another one. */
  destroy(connection: Connection): void
}

/**
 * Runs work with a connection of the user's pool, which it gives back as it was: after a failure rolled back, or closed where
 * that fails too or takes too long. Rejects with what the work rejects with, or when the deadline is over.
 */
export async function borrow<Connection, T>(
  lending: Lending<Connection>,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await take(lending)
  let isGone = false
  const destroy = () => {
    if (!isGone) lending.destroy(connection)
    isGone = true
  }
  try {
    const result = await inTime(work(connection), destroy)
    lending.release(connection)
    return result
  } catch (error) {
    await giveBack()
    throw error
  }

  async function giveBack(): Promise<void> {
    if (isGone) return
    try {
      await inTime(lending.rollback(connection), destroy)
      lending.release(connection)
    } catch {
      destroy() // the work has failed, and told why
    }
  }
}

/** A connection that comes too late goes back at once. */
function take<Connection>({ take, release }: Lending<Connection>): Promise<Connection> {
  const taking = take()
  return inTime(taking, () => taking.then(release, () => undefined))
}

function inTime<T>(work: Promise<T>, onLate: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`no answer within ${DEADLINE_MS} ms`))
      onLate()
    }, DEADLINE_MS)
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
