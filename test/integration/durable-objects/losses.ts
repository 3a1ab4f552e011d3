import { setTimeout as pause } from 'node:timers/promises'
import { type Losses, lossesOf, newTally, sumOf } from '../../support/tally.js'
import type { Workers } from './start.js'
import type { Seen } from './worker.js'

/** More units than a load takes, so that each charge that reaches an object is allowed and leaves a trace. */
export const LIMIT = 1_000_000
export const KEYS = 40
export const CHARGES = 400

/** How often a load is repeated, because on a busy machine a fault may meet no charge. */
const MOST_LOADS = 20

/** Charges from all isolates while faults happen, until one shows, and compares what they saw with what is stored. */
export async function lossesUnder(
  workers: Workers,
  fault: (workers: Workers) => Promise<unknown>,
  hasShown: (losses: Losses) => boolean,
  options: Readonly<Record<string, string>> = {},
): Promise<Losses> {
  let tally = newTally()
  for (let loads = 1; ; loads++) {
    tally = sumOf([tally, ...(await seenUnder(workers, fault, options))])
    expect(tally).toMatchObject({ sent: loads * 4 * CHARGES, denied: 0 })
    const used = await workers.ask<number>('/used', { limit: LIMIT, keys: KEYS })
    const losses = lossesOf(tally, used)
    if (hasShown(losses) || loads === MOST_LOADS) return losses
  }
}

/** Charges from all isolates while faults happen. */
async function seenUnder(
  workers: Workers,
  fault: (workers: Workers) => Promise<unknown>,
  options: Readonly<Record<string, string>>,
): Promise<readonly Seen[]> {
  const parameters = { limit: LIMIT, keys: KEYS, charges: CHARGES, callers: 20, ...options }
  const loads = [0, 1, 2, 3].map((isolate) => workers.ask<Seen>('/load', { isolate, ...parameters }))
  let isLoaded = true
  const seeing = Promise.all(loads).finally(() => {
    isLoaded = false
  })
  while (isLoaded) {
    await pause(20) // charges without a fault
    await fault(workers)
  }
  return seeing
}

/** Resets each object: it loses its memory, and all requests in it fail. */
export async function abortObjects(workers: Workers): Promise<void> {
  const names = Array.from({ length: 16 }, (_, i) => `limits-${i}`)
  await Promise.all(names.map((object) => workers.ask('/abort', { object }).catch(() => undefined)))
}
