import { setImmediate as turn } from 'node:timers/promises'
import express, { type Request } from 'express'
import express4 from 'express4'
import type { GivenOptions } from 'headgate/express-rate-limit'
import { sendAndHangUp } from '../../support/hang-up.js'
import { closeServers, times } from '../../support/http.js'
import { HTTP1 } from '../../support/protocols.js'
import { answerAll, type BuildApp, bothWith, ORIGINAL, OURS } from './side-by-side.js'

afterEach(closeServers)

const statusesOf = (answers: readonly object[]) =>
  answers.map((answer) => 'status' in answer && answer.status)
const mount = (options: GivenOptions): BuildApp => {
  return (limit, app) => answerAll(app.use(limit(options)))
}

const ON_EXPRESS_4: readonly [name: string, build: BuildApp, statuses: readonly number[]][] = [
  ['no options', mount({}), [200, 200, 200]],
  ['drafts', mount({ limit: 2, standardHeaders: 'draft-8' }), [200, 200, 429]],
  ['a limit by request', mount({ limit: async () => 1 }), [200, 429, 429]],
  [
    'a key that fails',
    mount({ keyGenerator: async () => Promise.reject(new Error('no user')) }),
    [500, 500, 500],
  ],
  ['a message', mount({ limit: 1, message: { slow: true } }), [200, 429, 429]],
  [
    'a limiter of each request',
    (limit, app) => answerAll(app.use((...each) => limit({})(...each))),
    [200, 200, 200],
  ],
]

test.each(ON_EXPRESS_4)('both packages do the same in Express 4: %s', async (_name, build, expected) => {
  const { original, ours } = await bothWith(build, times(3), 60_000, express4)
  expect(statusesOf(original.answers)).toEqual(expected)
  expect(ours).toEqual(original)
})

test.each([
  ['identifiers', { identifier: 'all' }, { identifier: 'route' }],
  ['names of their own', {}, {}],
])('two limiters of draft 8 on one route have a header each: %s', async (_name, first, second) => {
  const { original, ours } = await bothWith((limit, app) => {
    const all = limit({ limit: 3, standardHeaders: 'draft-8', ...first })
    const route = limit({ limit: 2, standardHeaders: 'draft-8', legacyHeaders: false, ...second })
    answerAll(app.use(all, route))
  }, times(5))
  expect(statusesOf(original.answers)).toEqual([200, 200, 429, 429, 429])
  expect(original.answers[0]).toMatchObject({
    headers: { ratelimit: expect.stringMatching(/^"[^"]+"; r=2; t=.*, "[^"]+"; r=1; t=/) },
  })
  expect(ours).toEqual(original)
})

describe.each([
  ['express-rate-limit', ORIGINAL],
  ['headgate/express-rate-limit', OURS],
])('%s', (_name, { rateLimit }) => {
  test.each([
    [{}, 1],
    [{ skipFailedRequests: true }, 0],
    [{ skipSuccessfulRequests: true }, 1],
    [{ skipFailedRequests: true, skipSuccessfulRequests: true }, 0],
  ])('keeps or refunds the hit of a client that hangs up: %p', async (options, hits) => {
    const limiter = rateLimit({ ...options, keyGenerator: (req: Request) => req.path })
    const endpoint = await HTTP1.serve(express().use(limiter, () => {}))
    const { res } = await sendAndHangUp(endpoint, { path: '/slow' })
    for (let i = 0; i < 5; i++) await turn()
    expect(res.writableEnded).toBe(false)
    expect((await limiter.getKey('/slow'))?.totalHits ?? 0).toBe(hits)
  })
})
