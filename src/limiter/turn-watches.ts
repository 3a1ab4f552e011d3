import type { Watch } from './watch-charges.js'

/**
 * After how many returns from a newer limiter to an older one both are in use. After a hot reload, late
 * requests cause a few.
 */
const RETURNS = 3

/**
 * Creates a function that returns a watch for each of the limiters that may have replaced one another, the
 * oldest first. Calls `onInTurns` once if an older limiter keeps being charged after a newer one: then both
 * are in use.
 */
export function turnWatches(onInTurns: () => void): () => Watch {
  let created = 0
  let lastCharged = 0
  let isOver = false
  return function nextWatch() {
    created++
    const number = created
    let returns = 0
    return function watch() {
      if (lastCharged > number) returns++
      lastCharged = number
      if (returns >= RETURNS && !isOver) {
        isOver = true
        onInTurns()
      }
      return isOver ? undefined : watch
    }
  }
}
