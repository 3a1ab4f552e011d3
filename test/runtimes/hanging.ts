import { until } from '../support/servers/wait.js'
import { decideAtOnce } from './at-once.js'

const LIMIT = 20
/** Half of what the store itself waits for a reply. A request that waited for the store would take longer. */
const MOST_MS = 30_000

/** Where applications serve limiters of 20 units, one for each `onStoreError`. */
const PATHS = ['/deny', '/allow', '/local'] as const

const exactly = (count: number) => ({ '200 store': LIMIT, '429 store': count - LIMIT })

/**
 * Sends so many requests at once to each limiter while its store hangs, several times: `local` admits its limit
 * in memory, once. Then the store is back, and each limiter admits its limit exactly, decided by the store.
 */
export async function expectHang(
  url: string,
  count: number,
  hang: (isHanging: boolean) => Promise<unknown> | undefined,
): Promise<void> {
  const atOnce = async (path: string) => {
    const startMs = performance.now()
    const counts = await decideAtOnce(count, `${url}${path}`)
    expect(performance.now() - startMs).toBeLessThan(MOST_MS)
    return counts
  }
  await hang(true)
  for (let i = 0; i < 3; i++) {
    expect(await atOnce(`/deny?key=${count}`)).toEqual({ '503 fail-closed': count })
    expect(await atOnce(`/allow?key=${count}`)).toEqual({ '200 fail-open': count })
    const admitted = i === 0 ? LIMIT : 0
    const locally = { '429 local': count - admitted, ...(admitted > 0 && { '200 local': admitted }) }
    expect(await atOnce(`/local?key=${count}`)).toEqual(locally)
  }
  await hang(false)
  for (const path of PATHS) {
    let tries = 0
    const isExact = async () => {
      const counts = await atOnce(`${path}?key=${count}-back-${++tries}`)
      return JSON.stringify(Object.entries(counts).sort()) === JSON.stringify(Object.entries(exactly(count)))
    }
    await until(`the store decides all of ${count} requests for ${path}, exactly`, isExact)
    expect(await atOnce(`/one?key=${path}-${count}`)).toEqual(exactly(count))
  }
}
