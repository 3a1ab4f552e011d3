import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { ban, fixedWindow, rateLimit, slidingLog, slidingWindow, tokenBucket } from 'headgate/http'
import { closeServers, send, serve } from '../../support/http.js'
import type { Started, StoreKind } from '../store-kinds.js'

const TWO = { limit: 2, window: '1h' } as const
const BASES = {
  tokenBucket: tokenBucket({ capacity: 2, refill: 2, every: '1h' }),
  fixedWindow: fixedWindow(TWO),
  slidingWindow: slidingWindow(TWO),
  slidingLog: slidingLog(TWO),
}
const BANS = { after: 2, within: '1h', for: '2h' } as const

/** Runs costs above a limit in and out of a ban, as HTTP requests that one store decides. */
export function describeNeverFits({ name, start }: StoreKind): void {
  describe(`a cost that never fits, on ${name}`, () => {
    let started: Started
    beforeAll(async () => {
      started = await start()
    })
    afterAll(() => started.stop())
    afterEach(closeServers)

    describe.each(Object.entries(BASES))('with %s', (_base, base) => {
      test.each([
        ['with', undefined],
        ['without', false],
      ] as const)('is a 403 in and out of a ban, %s a denial cache', async (_with, denyCache) => {
        const limit = rateLimit({
          name: randomUUID(),
          policy: ban(base, BANS),
          cost: (req: IncomingMessage) => Number(req.headers['x-cost']),
          store: await started.makeStore(),
          ...(denyCache === undefined ? {} : { denyCache }),
          headers: 'both',
        })
        const served = await serve((req, res) =>
          limit(req, res, (error) => {
            res.statusCode = error ? 500 : 200
            res.end()
          }),
        )
        const sent = async (cost: number) => {
          const { status, headers } = await send(served, { headers: { 'x-cost': cost } })
          const { 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': reset, ratelimit } = headers
          const retryAfterS = Number(headers['retry-after'])
          const isBanned = retryAfterS > 3600 && retryAfterS <= 7200
          return [status, isBanned, remaining, reset !== undefined, String(ratelimit).includes('t=')]
        }
        const never = [403, false, '0', false, false]
        const banned = [429, true, '0', true, true]

        expect((await sent(1))[0]).toBe(200)
        expect(await sent(3)).toEqual(never) // the first of two denials
        expect((await sent(1))[0]).toBe(200)
        expect(await sent(3)).toEqual(never) // the second one starts the ban
        expect(await sent(1)).toEqual(banned)
        expect(await sent(3)).toEqual(never)
        expect(await sent(2)).toEqual(banned)
        expect(await sent(3)).toEqual(never)
        expect(await sent(1)).toEqual(banned)
        const free = await sent(0)
        expect([free[0], free[2]]).toEqual([200, '0'])
      })
    })
  })
}
