import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  adjustments,
  ban,
  candidateLimits,
  createLimiter,
  type Decision,
  fixedWindow,
  type MiddlewareLimiter,
  rateLimit,
  waitFor,
} from 'headgate'

/** A request as node:http makes it, as far as a limiter reads it. */
const from = (ip: string, more: object = {}) =>
  ({ ip, headers: {}, socket: { remoteAddress: ip }, ...more }) as unknown as IncomingMessage

const CLIENT = from('192.0.2.1') as never

const limiterOf = (options: object) => rateLimit({ limit: 1, window: '1m', ...options } as never).limiter

test("a middleware's limiter exempts and blocks as the middleware does", async () => {
  const limiter = limiterOf({ allow: ['192.0.2.0/24'], block: ['203.0.113.5'] })
  expect(await limiter.charge(from('192.0.2.1') as never)).toMatchObject({ allowed: true, source: 'none' })
  expect(await limiter.peek(from('192.0.2.1') as never)).toMatchObject({ allowed: true, source: 'none' })
  expect(await limiter.charge(from('203.0.113.5') as never)).toMatchObject({
    allowed: false,
    source: 'blocked',
  })
  expect(await waitFor(limiter, from('203.0.113.5') as never)).toMatchObject({ source: 'blocked' })
  expect(await limiter.charge(from('198.51.100.1') as never)).toMatchObject({
    allowed: true,
    source: 'store',
  })
})

test("a middleware's limiter calls skip with the request, and its response where the request has it", async () => {
  const seen: unknown[] = []
  const skip = (req: IncomingMessage, res: ServerResponse | undefined) => {
    seen.push(res)
    return req.headers['x-skip'] === '1'
  }
  const limiter = limiterOf({ skip })
  const res = { locals: {} }
  const skipped = from('192.0.2.1', { headers: { 'x-skip': '1' }, res })
  for (let i = 0; i < 3; i++) expect(await limiter.charge(skipped as never)).toMatchObject({ source: 'none' })
  expect(await limiter.charge(from('192.0.2.1') as never)).toMatchObject({ allowed: true, source: 'store' })
  expect(seen).toEqual([res, res, res, undefined])
})

test("in report mode a middleware's limiter allows what its limits deny, and its parts say which", async () => {
  const limiter = limiterOf({ mode: 'report' })
  const req = from('192.0.2.1') as never
  const emitted: boolean[] = []
  limiter.events.on('decision', ({ allowed }) => emitted.push(allowed))
  expect(await limiter.charge(req)).toMatchObject({ allowed: true, parts: [{ allowed: true }] })
  const reported = (await limiter.charge(req)) as Decision
  expect(reported).toMatchObject({ allowed: true, retryAfterMs: 0, parts: [{ allowed: false }] })
  expect(await waitFor(limiter, req)).toMatchObject({ allowed: true, parts: [{ allowed: false }] })
  expect(emitted).toEqual([true, false, false])
  await adjustments(limiter).refund(reported) // it took nothing
  limiter.mode = 'enforce'
  expect(await limiter.charge(req)).toMatchObject({ allowed: false, remaining: 0 })
})

test("a job waits for a middleware's limiter, in one queue with those that wait already", async () => {
  const limiter = limiterOf({ window: '20ms' })
  const req = from('192.0.2.1') as never
  const order: string[] = []
  const wait = async (name: string) => {
    expect(await waitFor(limiter, req)).toMatchObject({ allowed: true })
    order.push(name)
  }
  await limiter.charge(req)
  await Promise.all(['first', 'second', 'third'].map(wait))
  expect(order).toEqual(['first', 'second', 'third'])
})

test('the method and the function of a limiter share its queue', async () => {
  const limiter = createLimiter<string>({ limit: 1, window: '20ms', key: (id) => id })
  const order: string[] = []
  await limiter.charge('a')
  await Promise.all([
    limiter.waitFor('a').then(() => order.push('method')),
    waitFor(limiter, 'a').then(() => order.push('function')),
    limiter.waitFor('a').then(() => order.push('method again')),
  ])
  expect(order).toEqual(['method', 'function', 'method again'])
})

test('a closed limiter lets nobody wait, even if nobody waited before', async () => {
  const limiter = limiterOf({ limit: 1, window: '1h' })
  const req = from('192.0.2.1') as never
  await limiter.charge(req)
  await limiter.close()
  expect(await waitFor(limiter, req)).toMatchObject({ allowed: false })
})

test.each([undefined, null, {}, limiterOf, 'api'])('%p is no limiter to wait for', (value) => {
  expect(() => waitFor(value as never, {} as never)).toThrow(/^waitFor: limiter must be a limiter, got/)
})

/** What a client with a limit of 10 has left after one charge of 4 and a change. */
const CHANGES: readonly [
  string,
  (changed: MiddlewareLimiter<never>, decision: Decision) => unknown,
  number,
][] = [
  ['refund', (changed, decision) => adjustments(changed).refund(decision), 10],
  ['forget', (changed) => adjustments(changed).forget(CLIENT), 10],
  ['penalize', (changed) => adjustments(changed).penalize(CLIENT, 2), 4],
  ['reward', (changed) => adjustments(changed).reward(CLIENT, 3), 9],
  ['adjust', (changed, decision) => adjustments(changed).adjust(decision, 5), 5],
  ['blockFor', (changed) => adjustments(changed).blockFor(CLIENT, '1m'), 0],
]

test.each(CHANGES)("the adjustment %s of a middleware's limiter", async (name, change, left) => {
  const policy = ban(fixedWindow({ limit: 10, window: '1h' }), { after: 5, within: '1m', for: '1h' })
  const limiter = rateLimit({ policy }).limiter as MiddlewareLimiter<never>
  expect(limiter).not.toHaveProperty(name)
  const decision = await limiter.charge(CLIENT, { cost: 4 })
  await change(limiter, decision)
  expect(await limiter.peek(CLIENT)).toMatchObject({ remaining: left })
})

test('a limiter always has the same adjustments, which are the methods of one from createLimiter', () => {
  const { limiter: ofMiddleware } = rateLimit({ limit: 1, window: '1m' })
  expect(adjustments(ofMiddleware)).toBe(adjustments(ofMiddleware))
  const limiter = createLimiter({ limit: 1, window: '1m' })
  const { refund, forget, penalize, reward, blockFor, adjust } = limiter
  expect(adjustments(limiter)).toEqual({ refund, forget, penalize, reward, blockFor, adjust })
})

test("a middleware's refunds and adjustments also change what its candidate has counted", async () => {
  const candidate = candidateLimits({ limit: 2, window: '1h' })
  const limiter = limiterOf({ limit: 100, candidate })
  for (let i = 0; i < 5; i++)
    await adjustments(limiter).refund(await limiter.charge(from('192.0.2.1') as never))
  for (let i = 0; i < 2; i++) await limiter.charge(from('192.0.2.1') as never)
  await adjustments(limiter).forget(from('192.0.2.1') as never)
  for (let i = 0; i < 2; i++) await limiter.charge(from('192.0.2.1') as never)
  expect(limiter.candidateReport()).toMatchObject({ requests: 9, newlyDenied: 0 })
  await limiter.charge(from('192.0.2.1') as never)
  expect(limiter.candidateReport()).toMatchObject({ requests: 10, newlyDenied: 1 })
})

test.each([undefined, null, {}, limiterOf, 'api'])('%p is no limiter to adjust', (value) => {
  expect(() => adjustments(value as never)).toThrow(/^adjustments: limiter must be a limiter, got/)
})
