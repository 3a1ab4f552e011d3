import { timeout } from '../../util/timeout.js'

/** How long a connection is waited for and worked with before it is given up. */
const DEADLINE_MS = 5000
const NO_CONNECTION = `no connection of the pool was free within ${DEADLINE_MS} ms: allow the pool more of them, or give the store a pool of its own`

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

/** A connection that is lent, once there is one. */
interface Loan<Connection> {
  connection?: Connection
  isOver: boolean
}

export function borrower<Connection>(lending: Lending<Connection>): Borrow<Connection> {
  const inTime = timeout(DEADLINE_MS)

  /** Ends a loan, once. */
  function end(loan: Loan<Connection>, part: (connection: Connection) => void): void {
    const { connection, isOver } = loan
    loan.isOver = true
    if (connection !== undefined && !isOver) part(connection)
  }

  async function giveBackAfterFailure(loan: Loan<Connection>): Promise<void> {
    const { connection, isOver } = loan
    if (connection === undefined || isOver) return
    try {
      await inTime(lending.rollback(connection), () => end(loan, lending.destroy))
      end(loan, lending.release)
    } catch {
      end(loan, lending.destroy) // the work has failed, and told why
    }
  }

  async function run<T>(loan: Loan<Connection>, work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await lending.take()
    if (loan.isOver) {
      lending.release(connection) // it came too late
      throw new Error('its time is over')
    }
    loan.connection = connection
    try {
      const result = await work(connection)
      end(loan, lending.release)
      return result
    } catch (error) {
      await giveBackAfterFailure(loan)
      throw error
    }
  }

  return async (work) => {
    const loan: Loan<Connection> = { isOver: false }
    try {
      return await inTime(run(loan, work), () => end(loan, lending.destroy))
    } catch (error) {
      if (loan.isOver && loan.connection === undefined) throw new Error(NO_CONNECTION)
      throw error
    }
  }
}
