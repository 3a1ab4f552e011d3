import { useUpstash } from '../integration/upstash/use-upstash.js'
import { sendAtOnce } from './at-once.js'
import { expectHang } from './hanging.js'
import type { RuntimeName } from './runtimes.js'
import { type Running, startIn } from './start-in.js'
import { optionsFor } from './use-upstash.js'

/** How many requests at once meet Upstash, and how many meet one that hangs, in which runtimes. */
interface UpstashTests {
  readonly runtimes: readonly RuntimeName[]
  readonly counts: readonly number[]
  readonly hanging?: readonly number[]
  /** How long limiters wait for Upstash that hangs: until it has decided all of them. Default `'2s'`. */
  readonly timeout?: string
}

/** Defines the tests that requests at once are limited exactly over the REST interface of Upstash. */
export function describeUpstashIn({ runtimes, counts, hanging = [], timeout = '2s' }: UpstashTests): void {
  const upstash = useUpstash()
  const calls = () => upstash.rest.requests.flatMap(({ commands }) => commands).filter(isCharge).length

  describe.each(runtimes)('in %s', (name) => {
    let running: Running
    beforeAll(async () => {
      const { env } = optionsFor(upstash)
      running = await startIn(name, `${__dirname}/apps/limited-by-store.ts`, {
        store: `${__dirname}/stores/upstash.ts`,
        env: { ...env, HANG_TIMEOUT: timeout },
      })
    }, 120_000)
    afterAll(() => running?.close())

    test.each(counts)('%i requests at once get exactly the limit, and each is sent once', async (count) => {
      expect(await sendAtOnce(count, `${running.url}/one?key=${count}`)).toEqual({ 200: 20, 429: count - 20 })
      expect(calls()).toBeLessThanOrEqual(count)
    })

    for (const count of hanging)
      test(`Upstash that hangs lets none of ${count} requests hang, and decides exactly once it is back`, async () => {
        const hang = (isHanging: boolean) => {
          upstash.rest.fault = () => (isHanging ? 'hangs' : undefined)
        }
        await expectHang({ url: running.url, hang, calls }, count)
      }, 300_000)
  })
}

/** Whether a command charges, with a script that the server knows. */
const isCharge = ([word]: readonly string[]) => word === 'evalsha'
