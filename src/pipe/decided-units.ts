import type { Charge, Part } from '../stores/operation.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { type HeldUnits, mostUnmarked } from './held-units.js'
import { type Pipe, request } from './pipe.js'
import { markedUnits, markOf } from './undecided-units.js'

/**
 * Creates the function that reads how many units of known outcome each part has in use now, at least. It
 * assumes that other processes have left as many undecided units unmarked as they may.
 */
export function decidedReader(pipe: Pipe, held: HeldUnits) {
  return function readDecided(parts: readonly Part[]): MaybePromise<readonly number[]> {
    const peeks = parts.map((part): Part => ({ ...part, cost: 0 }))
    const marks = held.isAlone ? [] : peeks.map(markOf)
    const read: Charge = { type: 'charge', parts: [...peeks, ...marks] }
    return thenMaybe(request(pipe, read), ({ parts: figures, atMs }) =>
      peeks.map(({ key, policy }, i) => {
        const { remaining = policy.limit, debt = 0 } = figures[i] ?? {}
        const mark = figures[peeks.length + i]
        const undecided = held.undecidedAt(key, mark ? markedUnits(mark) : 0, atMs)
        const unseen = held.isAlone ? 0 : mostUnmarked(policy)
        return Math.max(0, policy.limit - remaining + debt - undecided - unseen)
      }),
    )
  }
}
