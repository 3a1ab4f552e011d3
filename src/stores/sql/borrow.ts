import { deadline } from '../deadline.js'

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
export type Borrow<Connection> = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>

export function borrower<Connection>(lending: Lending<Connection>): Borrow<Connection> {
  const inTime = deadline(DEADLINE_MS)

  /** A connection that comes too late goes back at once. */
  function take(): Promise<Connection> {
    const taking = lending.take()
    return inTime(taking, () => taking.then(lending.release, () => undefined))
  }

  return async (work) => {
    const connection = await take()
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
}
