import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { exponential, randomFrom } from '../simulate/random.js'
import { BURN_MS, SERVICE_MS, WORKERS, type Work } from './scenario.js'
import { Workers } from './workers.js'

/** Does what a server does for a request. `workersNow` tells how many workers the backend has. */
export function workOf(work: Work, workersNow: () => number): () => Promise<void> | void {
  if (work === 'sync') return burn
  if (work === 'cpu') return () => nextTurn().then(burn)
  const workers = new Workers(WORKERS)
  const random = randomFrom(1)
  return async () => {
    const nowMs = performance.now()
    await pause(workers.finishAtMs(nowMs, exponential(random, 1 / SERVICE_MS), workersNow()) - nowMs)
  }
}

function burn(): void {
  const endMs = performance.now() + BURN_MS
  while (performance.now() < endMs);
}
