import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { exponential, randomFrom } from '../simulate/random.js'
import { BURN_MS, SERVER_KINDS, type Work } from './scenario.js'
import { Workers } from './workers.js'

/** Does what a server does for a request. `workersNow` tells how many workers the backend has. */
export function workOf(
  work: Work,
  workersNow: () => number | undefined,
): (path: string) => Promise<void> | void {
  const { backend } = SERVER_KINDS[work]
  if (backend === undefined) return work === 'sync' ? () => burn(BURN_MS) : burnLater
  const workers = new Workers(backend.workers)
  const random = randomFrom(1)
  return async (path) => {
    const nowMs = performance.now()
    const serviceMs = exponential(random, 1 / backend.serviceMs(path))
    await pause(workers.finishAtMs(nowMs, serviceMs, workersNow()) - nowMs)
  }
}

/** Keeps the process busy. */
export function burn(forMs: number): void {
  const endMs = performance.now() + forMs
  while (performance.now() < endMs);
}

const burnLater = () => nextTurn().then(() => burn(BURN_MS))
