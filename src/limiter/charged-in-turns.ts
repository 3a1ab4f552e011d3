import type { Watch } from './watch-charges.js'

/** How often an older limiter is charged after a newer one. After a hot reload, a late request may do so. */
const RETURNS = 3

/**
 * Creates the watches of limiters that may have replaced one another, the oldest first. Calls back once an
 * older one keeps being charged after a newer one: then both are in use.
 */
export function inTurns(onInTurns: () => void): () => Watch {
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
