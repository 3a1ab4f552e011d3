import { setTimeout as pause } from 'node:timers/promises'
import { startWorkers, type Workers } from './start.js'
import type { Seen } from './worker.js'

/** More units than a load takes, so that each charge that reaches an object is allowed and leaves a trace. */
const LIMIT = 1_000_000
const KEYS = 40
const CHARGES = 400

let workers: Workers
beforeEach(async () => {
  workers = await startWorkers()
})
afterEach(() => workers?.running.close())

interface Figures {
  /** Charges that were allowed, and those whose outcome is unknown. */
  readonly allowed: number
  readonly unknown: number
  /** Units that were allowed and are gone. */
  readonly lost: number
  /** Units that were counted and that no charge can have taken. */
  readonly doubled: number
}

/** How often a load is repeated, because on a busy machine a fault may meet no charge. */
const MOST_LOADS = 20

/** Charges from all isolates while faults happen, until one shows, and compares what they saw with what is stored. */
async function figuresOf(
  fault: () => Promise<unknown>,
  hasShown: (figures: Figures) => boolean,
  options: Readonly<Record<string, string>> = {},
): Promise<Figures> {
  let [allowed, unknown] = [0, 0]
  for (let loads = 1; ; loads++) {
    const seen = await seenUnder(fault, options)
    const sum = (name: 'allowed' | 'denied' | 'unknown') =>
      seen.reduce((total, each) => total + each[name], 0)
    allowed += sum('allowed')
    unknown += sum('unknown')
    expect({ denied: sum('denied'), charges: allowed + unknown }).toEqual({
      denied: 0,
      charges: loads * 4 * CHARGES,
    })
    const used = await workers.ask<number>('/used', { limit: LIMIT, keys: KEYS })
    const lost = Math.max(0, allowed - used)
    const figures = { allowed, unknown, lost, doubled: Math.max(0, used - allowed - unknown) }
    if (hasShown(figures) || loads === MOST_LOADS) return figures
  }
}

/** Charges from all isolates while faults happen. */
async function seenUnder(
  fault: () => Promise<unknown>,
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
    await fault()
  }
  return seeing
}

/** Resets each object: it loses its memory, and all requests in it fail. */
async function abortObjects(): Promise<void> {
  const names = Array.from({ length: 16 }, (_, i) => `limits-${i}`)
  await Promise.all(names.map((object) => workers.ask('/abort', { object }).catch(() => undefined)))
}

test('objects that are reset under load lose nothing, and count nothing twice', async () => {
  const figures = await figuresOf(abortObjects, ({ unknown }) => unknown > 0)
  expect(figures).toMatchObject({ lost: 0, doubled: 0 })
  expect(figures.unknown).toBeGreaterThan(0)
}, 120_000)

test('with writeDelay, objects that are reset lose what they had not written yet', async () => {
  const figures = await figuresOf(abortObjects, ({ lost }) => lost > 0, { writeDelay: '1s' })
  expect(figures.doubled).toBe(0)
  expect(figures.lost).toBeGreaterThan(0)
}, 120_000)

test('a workerd that is killed under load has lost nothing when it is back', async () => {
  const parameters = { limit: LIMIT, keys: KEYS, charges: CHARGES, callers: 20 }
  let allowed = 0
  let unknown = 0
  const until = Date.now() + 3000
  async function call(): Promise<void> {
    while (Date.now() < until)
      await workers.ask<Seen>('/load', { ...parameters, charges: 1, callers: 1 }).then(
        (seen) => {
          allowed += seen.allowed
        },
        () => {
          unknown++
        },
      )
  }
  const calls = Array.from({ length: 20 }, call)
  await pause(1500)
  await workers.running.process.kill('SIGKILL')
  await workers.running.process.restart()
  await Promise.all(calls)
  const used = await workers.ask<number>('/used', { limit: LIMIT, keys: KEYS })
  expect(allowed).toBeGreaterThan(0)
  expect(unknown).toBeGreaterThan(0)
  expect(used).toBeGreaterThanOrEqual(allowed)
  expect(used).toBeLessThanOrEqual(allowed + unknown)
}, 120_000)
