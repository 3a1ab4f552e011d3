import type { Charge, Part } from '../stores/operation.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { type Pipe, request } from './pipe.js'
import type { UndecidedMarks } from './undecided-charge.js'
import type { UndecidedLedger } from './undecided-ledger.js'
import { markedUnits } from './undecided-units.js'

/** A pipe, and the undecided units of this process in its store. */
export interface UndecidedSource {
  readonly pipe: Pipe
  readonly ledger: UndecidedLedger
  /** Absent if no other process uses the store. */
  readonly marks: UndecidedMarks | undefined
}

/**
 * Reads how many units of known outcome each part has in use now, at least. Assumes that other processes
 * have left as many undecided units unmarked as they may.
 */
export function readDecided(
  { pipe, ledger, marks }: UndecidedSource,
  parts: readonly Part[],
): MaybePromise<readonly number[]> {
  const peeks = parts.map((part): Part => ({ ...part, cost: 0 }))
  const read: Charge = { type: 'charge', parts: [...peeks, ...(marks ? peeks.map(marks.markOf) : [])] }
  return thenMaybe(request(pipe, read), ({ parts: figures, atMs }) =>
    peeks.map(({ key, policy }, i) => {
      const { remaining = policy.limit, debt = 0 } = figures[i] ?? {}
      const mark = figures[peeks.length + i]
      const undecided = ledger.undecidedAt(key, mark ? markedUnits(mark) : 0, atMs)
      const unseen = marks?.mostUnmarked(policy) ?? 0
      return Math.max(0, policy.limit - remaining + debt - undecided - unseen)
    }),
  )
}
