import { setImmediate as turn } from 'node:timers/promises'
import connect from 'connect'
import express, { type NextFunction, type Request, type Response } from 'express'
import type * as ours from 'headgate/express-rate-limit'
import { closeServers, send, serve, statuses, times } from '../../support/http.js'
import { bothWith, ORIGINAL, OURS, type Package } from './side-by-side.js'

afterEach(async () => {
  jest.restoreAllMocks()
  await closeServers()
})

const PACKAGES = [
  ['express-rate-limit', ORIGINAL],
  ['headgate/express-rate-limit', OURS],
] as const

/** Returns its own, changing object, as the MemoryStore of express-rate-limit does. */
class LiveStore implements ours.Store {
  readonly localKeys = true
  readonly count = { totalHits: 0, resetTime: new Date(Date.now() + 60_000) }
  decrements = 0

  async increment() {
    this.count.totalHits++
    return this.count
  }

  decrement(): void {
    this.decrements++
  }

  resetKey(): void {}
}

test.each(['limit', 'identifier'])(
  'hits that are counted while an async %s is read change nothing',
  async (option) => {
    const slow = async () => {
      await turn()
      await turn()
      return option === 'limit' ? 1 : 'name'
    }
    const served = await serve(
      express().use(
        OURS.rateLimit({ limit: 1, standardHeaders: 'draft-8', store: new LiveStore(), [option]: slow }),
        (_req: Request, res: Response) => void res.end(),
      ),
    )
    const seen = await Promise.all(times(3).map(async (sent) => (await send(served, sent)).status))
    expect(seen.sort()).toEqual([200, 429, 429])
  },
)

describe.each(PACKAGES)('%s', (_name, { rateLimit, MemoryStore }) => {
  test('calls decrement of a store that extends the MemoryStore', async () => {
    let decrements = 0
    class Extended extends (MemoryStore as typeof ours.MemoryStore) {
      override async decrement(key: string) {
        decrements++
        return super.decrement(key)
      }
    }
    const limiter = rateLimit({ store: new Extended(), skipFailedRequests: true })
    const served = await serve(express().use(limiter, (_req, res) => void res.status(404).end()))
    expect(await statuses(served, times(2))).toEqual([404, 404])
    await turn()
    expect(decrements).toBe(2)
  })

  test.each([
    ['skipFailedRequests', 0],
    ['skipSuccessfulRequests', 1],
  ])(
    'knows the outcome of a response that finished while its hit was counted: %s',
    async (option, refunds) => {
      const store = new LiveStore()
      let finished: Promise<void> | undefined
      store.increment = async () => {
        await finished
        return { totalHits: 1, resetTime: store.count.resetTime }
      }
      const endEarly = (_req: Request, res: Response, next: NextFunction) => {
        finished = new Promise((resolve) => res.once('close', resolve))
        res.end('early')
        next()
      }
      let passed = () => {}
      const isPassed = new Promise<void>((resolve) => {
        passed = resolve
      })
      const served = await serve(
        express().use(endEarly, rateLimit({ store, [option]: true }), () => passed()),
      )
      await statuses(served, times(1))
      await isPassed
      for (let i = 0; i < 5; i++) await turn()
      expect(store.decrements).toBe(refunds)
    },
  )

  test('returns a promise of its decision', async () => {
    const limiter = rateLimit({ store: new LiveStore(), validate: false, keyGenerator: () => 'all' })
    const headers = { setHeader() {}, headersSent: false } as unknown as Response
    const next = jest.fn()
    await limiter({} as Request, headers, next)
    expect(next).toHaveBeenCalledTimes(1)
  })

  test('gives promises of getKey and resetKey with the default store', async () => {
    const limiter = rateLimit({})
    expect(limiter.getKey('ada')).toBeInstanceOf(Promise)
    expect(limiter.resetKey('ada')).toBeInstanceOf(Promise)
    expect(await limiter.getKey('ada')).toBeUndefined()
  })

  test('takes null for a store, a logger, validate and all options', () => {
    const none = { store: null, validate: null } as unknown as ours.GivenOptions
    expect(() => rateLimit(none)).not.toThrow()
    expect(() => rateLimit(null as unknown as ours.GivenOptions)).not.toThrow()
  })

  test('counts by a clock that tests can set', async () => {
    const served = await serve(
      express().use(rateLimit({ limit: 1, windowMs: 60_000 }), (_req, res) => void res.end()),
    )
    expect(await statuses(served, times(2))).toEqual([200, 429])
    const nowMs = Date.now()
    jest.spyOn(Date, 'now').mockReturnValue(nowMs + 61_000)
    expect(await statuses(served, times(2))).toEqual([200, 429])
  })

  test('attaches a plain object', async () => {
    let info: unknown
    const look = (req: Request, res: Response) => {
      info = (req as ours.AugmentedRequest).rateLimit
      res.end()
    }
    await statuses(await serve(express().use(rateLimit({ keyGenerator: () => 'all' }), look)), times(1))
    expect(info).toStrictEqual({ limit: 5, used: 1, remaining: 4, key: 'all', resetTime: expect.any(Date) })
    expect((info as { current: number }).current).toBe(1)
  })

  test('logs nothing about an init that returns what is no promise of Node.js', async () => {
    const error = jest.fn()
    const store = Object.assign(new LiveStore(), { init: () => 1 as unknown as undefined })
    rateLimit({ store, logger: { error, warn: error } })
    await turn()
    expect(error).not.toHaveBeenCalled()
  })

  test('logs a check that fails, and passes the request', async () => {
    const logged: string[] = []
    const error = (problem: unknown) => void logged.push((problem as Error).name)
    const limiter = rateLimit({ logger: { error, warn: error } })
    const app = connect()
    app.use(limiter as unknown as connect.NextHandleFunction) // a request of Connect has neither app nor ip
    app.use((_req, res) => void res.end())
    expect(await statuses(await serve(app), times(2))).toEqual([200, 200])
    expect(logged).toEqual(['ValidationError', 'TypeError'])
  })

  test('shows a handler options whose change has no effect', async () => {
    const options: ours.GivenOptions = {
      limit: 1,
      handler: (_req, res, _next, used) => {
        used.limit = 100
        res.status(429).end()
      },
    }
    const served = await serve(express().use(rateLimit(options), (_req, res) => void res.end()))
    expect(await statuses(served, times(3))).toEqual([200, 429, 429])
  })
})

test.each([-1, 1.5, 129, 'all', '-1', '1.5', '129', '0x40', ' 64'])(
  'neither package makes a network of %p bits',
  (bits) => {
    for (const { ipKeyGenerator } of [ORIGINAL, OURS] as Package[])
      expect(() => ipKeyGenerator('2001:db8::1', bits as number)).toThrow()
  },
)

test('a function that returns no number as limit is an error here', async () => {
  const { ours } = await bothWith(
    (limit, app) => app.use(limit({ limit: () => Number.NaN }), (_req, res) => void res.end()),
    times(1),
  )
  expect(ours.answers).toEqual([expect.objectContaining({ status: 500 })])
})

test('a store that returns nothing counts as failed in both packages', async () => {
  const store = Object.assign(new LiveStore(), {
    increment: () => undefined as unknown as ours.IncrementResponse,
  })
  const { original, ours } = await bothWith(
    (limit, app) =>
      app.use(limit({ store, passOnStoreError: true, validate: false }), (_req, res) => void res.end()),
    times(1),
  )
  expect(original.answers).toEqual([expect.objectContaining({ status: 200 })])
  expect(ours.answers).toEqual(original.answers)
})
