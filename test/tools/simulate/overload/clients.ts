import type { Priority } from '../../../../src/overload/cohorts.js'
import type { Random } from '../random.js'

/** The priority of a request: a twentieth is critical, and a third is bulk. */
export function drawPriority(random: Random): Priority {
  const at = random()
  return at < 0.05 ? 'critical' : at < 0.38 ? 'bulk' : 'default'
}

/** Returns after how long a client tries again that tries at once, up to three times. */
export const retryAtOnce = (attempt: number): number | undefined => (attempt < 3 ? 1 : undefined)

/** The same for a client that waits for twice as long each time, up to five times. */
export const retryWithBackoff = (attempt: number, random: Random): number | undefined =>
  attempt < 5 ? 100 * 2 ** attempt * (0.5 + random()) : undefined
