import { until } from '../support/servers/wait.js'
import { LIMIT } from './apps/limited-paths.js'
import { decideAtOnce } from './at-once.js'

/** Half of what the store itself waits for a reply. A request that waited for the store would take longer. */
const MOST_MS = 30_000
/** A circuit breaker that is open sends nothing for this long. */
const OPEN_MS = 500

/** Paths of `limitedPaths`, and the circuit breaker that each has for itself. */
const PATHS = ['/deny', '/allow', '/local'] as const

/** An application of `limitedPaths`, and its store. */
export interface Hangable {
  readonly url: string
  /** Lets the store hang, or reply again. */
  hang(isHanging: boolean): unknown
  /** Returns how many calls have reached the store so far, one for each operation. */
  calls(): number | Promise<number>
}

/**
 * Sends so many requests at once to each limiter, again and again while its store hangs. `local` admits its limit
 * in memory, once. The circuit breakers open: after the first requests, only probes reach the store. Then the store
 * is back, the breakers close, and each limiter admits its limit exactly, decided by the store.
 */
export async function expectHang({ url, hang, calls }: Hangable, count: number): Promise<void> {
  const atOnce = async (path: string) => {
    const startMs = performance.now()
    const counts = await decideAtOnce(count, url + path)
    expect(performance.now() - startMs).toBeLessThan(MOST_MS)
    return counts
  }
  const expectUndecided = async (admitted: number) => {
    const counts = await Promise.all(PATHS.map((path) => atOnce(`${path}?key=${count}`)))
    const locally = { '429 local': count - admitted, ...(admitted > 0 && { '200 local': admitted }) }
    expect(counts).toEqual([{ '503 fail-closed': count }, { '200 fail-open': count }, locally])
  }

  await hang(true)
  await expectUndecided(LIMIT)
  const [callsBefore, startMs] = [await settled(calls), performance.now()]
  let probes = 0
  while (probes === 0) {
    await expectUndecided(0)
    probes = (await calls()) - callsBefore
  }
  const mostOfOne = 1 + Math.ceil((performance.now() - startMs) / OPEN_MS)
  expect(probes).toBeLessThanOrEqual(PATHS.length * mostOfOne)

  await hang(false)
  for (const path of PATHS) {
    const isDecidedByStore = async () =>
      Object.keys(await atOnce(`${path}?key=${count}`)).every((outcome) => outcome.endsWith(' store'))
    await until(`the circuit breaker of ${path} is closed`, isDecidedByStore)
    let tries = 0
    const isExact = async () => {
      const counts = await atOnce(`${path}?key=${count}-back-${++tries}`)
      return counts['200 store'] === LIMIT && counts['429 store'] === count - LIMIT
    }
    await until(`the store decides all of ${count} requests for ${path}, exactly`, isExact)
  }
  expect(await atOnce(`/one?key=${count}-back`)).toEqual({ '200 store': LIMIT, '429 store': count - LIMIT })
}

/** How long no more calls have to reach the store until the last one of some requests has. */
const SETTLED_MS = 200

/** Returns how many calls have reached the store, once the late ones have. */
async function settled(calls: Hangable['calls']): Promise<number> {
  let last = -1
  const areSettled = async () => {
    const before = last
    last = await calls()
    return last === before
  }
  await until('all calls have reached the store', areSettled, { everyMs: SETTLED_MS })
  return last
}
