import { catchMaybe, isPromise, type MaybePromise, thenMaybe } from '../../util/maybe-promise.js'
import { show } from '../../util/validate.js'
import type { Operation, Result } from '../operation.js'
import { checkTime } from '../shared/validate.js'
import { decideBatch, type LockedStates } from './decide-batch.js'
import type { TransactionOptions } from './transaction-options.js'

/** What the operations of a batch return, in order. */
export type Results = readonly (Result | Error)[]

/** One try of a transaction. */
export interface Attempt {
  /** How many of its runs were, or may still be, committed. Without any, a failed attempt changed nothing. */
  committable: number
  isOver: boolean
}

/** Returns a function that applies operations in one transaction of a database. */
export function transactionRunner<Transaction>(
  { name, transaction, lockAndRead, write }: TransactionOptions<Transaction>,
  storageKey: (key: string) => string,
) {
  /** Returns a promise only if a function of the database returns one. */
  return function transact(
    operations: readonly Operation[],
    keys: readonly string[],
    attempt: Attempt,
  ): MaybePromise<Results> {
    const decide = (tx: Transaction, locked: LockedStates): MaybePromise<Results> => {
      const { nowMs } = checkLocked(locked)
      checkTime('lockAndRead', nowMs)
      const { results, writes } = decideBatch(name, operations, locked, storageKey)
      return writes.length === 0 ? results : thenMaybe(write(tx, writes), () => results)
    }
    let inside: MaybePromise<Results> | undefined
    const results = transaction((tx) => {
      if (attempt.isOver) throw new TypeError(TOO_LATE)
      attempt.committable += 1 // more than once if `transaction` repeats what failed
      inside = catchMaybe(
        () => thenMaybe(lockAndRead(tx, keys), (locked) => decide(tx, locked)),
        (error) => {
          attempt.committable -= 1
          throw error
        },
      )
      return inside
    })
    if (results === inside && isPromise(inside)) throw new TypeError(NOT_AWAITED)
    return thenMaybe(results, checkResults)
  }
}

const NOT_AWAITED =
  'transaction must await what run returns before it commits, if lockAndRead or write is asynchronous'

const TOO_LATE = 'transaction must not call run after it has rejected'

function checkResults(results: Results): Results {
  if (Array.isArray(results)) return results
  throw new TypeError(`transaction must return what run returns, got ${show(results)}`)
}

function checkLocked(locked: LockedStates): LockedStates {
  if (locked?.states instanceof Map) return locked
  throw new TypeError(`lockAndRead must return { states, nowMs } with a Map of states, got ${show(locked)}`)
}
