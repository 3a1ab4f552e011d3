import type { Request, Response } from 'express'
import type { Store } from 'headgate/express-rate-limit'
import { closeServers, type Sent, times } from '../../support/http.js'
import { both, type MakeOptions, type Transcript } from './side-by-side.js'

afterEach(closeServers)

const from = (address: string): Sent => ({ headers: { 'x-forwarded-for': address } })
const to = (path: string, method = 'GET'): Sent => ({ path, method })
const ALICE = from('203.0.113.7')
const FOUR = times(4, ALICE)

/** Options, requests, and the statuses that both packages answer with. */
type Case = readonly [
  name: string,
  make: MakeOptions,
  requests: readonly Sent[],
  statuses: string,
  windowMs?: number,
]

const CASES: readonly Case[] = [
  ['no options', () => ({}), times(7, ALICE), '200 200 200 200 200 429 429'],
  ['a limit', () => ({ limit: 2 }), FOUR, '200 200 429 429'],
  ['a limit of two clients', () => ({ limit: 1 }), [ALICE, from('203.0.113.8'), ALICE], '200 200 429'],
  ['max', () => ({ max: 2 }), FOUR, '200 200 429 429'],
  ['limit and max', () => ({ max: 1, limit: 2 }), FOUR, '200 200 429 429'],
  ['a limit as text', () => ({ limit: '2' as unknown as number }), FOUR, '200 200 429 429'],
  ['a limit of 0', () => ({ limit: 0 }), FOUR, '429 429 429 429'],
  [
    'a limit by request',
    () => ({ limit: (req) => (req.path === '/200' ? 3 : 1) }),
    [...FOUR, to('/200')],
    '200 429 429 429 200',
  ],
  ['an async limit', () => ({ limit: async () => 2 }), FOUR, '200 200 429 429'],
  [
    'a limit that throws',
    () => ({
      limit: () => {
        throw new Error('no plan')
      },
    }),
    [ALICE],
    '500',
  ],
  ['draft 6 by true', () => ({ limit: 2, standardHeaders: true }), FOUR, '200 200 429 429'],
  ['draft 6', () => ({ limit: 2, standardHeaders: 'draft-6' }), FOUR, '200 200 429 429'],
  ['draft 7', () => ({ limit: 2, standardHeaders: 'draft-7' }), FOUR, '200 200 429 429'],
  ['draft 8', () => ({ limit: 2, standardHeaders: 'draft-8' }), FOUR, '200 200 429 429'],
  [
    'draft 8 alone',
    () => ({ limit: 2, standardHeaders: 'draft-8', legacyHeaders: false }),
    FOUR,
    '200 200 429 429',
  ],
  ['no headers', () => ({ limit: 2, legacyHeaders: false }), FOUR, '200 200 429 429'],
  ['headers: false', () => ({ limit: 2, headers: false }), FOUR, '200 200 429 429'],
  [
    'headers and legacyHeaders',
    () => ({ limit: 2, headers: false, legacyHeaders: true }),
    FOUR,
    '200 200 429 429',
  ],
  [
    'a draft that does not exist',
    () => ({ limit: 2, standardHeaders: 'draft-5' as 'draft-6' }),
    FOUR,
    '200 200 429 429',
  ],
  [
    'a draft that does not exist, alone',
    () => ({ limit: 1, legacyHeaders: false, standardHeaders: 'draft-9' as 'draft-8' }),
    FOUR,
    '200 429 429 429',
  ],
  [
    'an identifier',
    () => ({ limit: 2, standardHeaders: 'draft-8', identifier: 'api' }),
    FOUR,
    '200 200 429 429',
  ],
  [
    'an identifier by request',
    () => ({ standardHeaders: 'draft-8', identifier: async (req) => `at ${req.path}` }),
    FOUR,
    '200 200 200 200',
  ],
  ...[30_000, 90_000, 3_600_000, 7_200_000, 86_400_000, 259_200_000, 1500].map(
    (windowMs): Case => [
      `a window of ${windowMs} ms`,
      () => ({ windowMs, limit: 2, standardHeaders: 'draft-8' }),
      FOUR,
      '200 200 429 429',
      windowMs,
    ],
  ),
  ['a message', () => ({ limit: 1, message: 'Slow down.' }), FOUR, '200 429 429 429'],
  ['a message as object', () => ({ limit: 1, message: { code: 17, slow: true } }), FOUR, '200 429 429 429'],
  [
    'a message by request',
    () => ({ limit: 1, message: (req: Request) => `Not ${req.path}` }),
    FOUR,
    '200 429 429 429',
  ],
  ['an async message', () => ({ limit: 1, message: async () => ({ slow: true }) }), FOUR, '200 429 429 429'],
  [
    'a message that answers',
    () => ({ limit: 1, message: (_req: unknown, res: Response) => res.end('mine') }),
    FOUR,
    '200 429 429 429',
  ],
  ['a status', () => ({ limit: 1, statusCode: 503 }), FOUR, '200 503 503 503'],
  [
    'a handler',
    () => ({ limit: 1, handler: (req, res) => void res.status(420).json({ path: req.path }) }),
    FOUR,
    '200 420 420 420',
  ],
  [
    'a handler with options',
    () => ({
      limit: 1,
      handler: (_req, res, _next, { statusCode, message, windowMs, limit }) =>
        void res.status(statusCode).json({ message, windowMs, limit }),
    }),
    FOUR,
    '200 429 429 429',
  ],
  [
    'a handler that lets pass',
    () => ({ limit: 1, handler: (_req, _res, next) => next() }),
    FOUR,
    '200 200 200 200',
  ],
  [
    'a handler that fails',
    () => ({
      limit: 1,
      handler: () => {
        throw new Error('broken')
      },
    }),
    FOUR,
    '200 500 500 500',
  ],
  ...(['resetAll', 'shutdown'] as const).map(
    (method): Case => [
      `a handler that calls ${method} of the default store`,
      () => ({
        limit: 1,
        handler: async (_req, res, _next, { store }) => {
          await (store as Store)[method]?.()
          res.status(429).end()
        },
      }),
      FOUR,
      '200 429 200 429',
    ],
  ),
  ['retryAfter', () => ({ limit: 1, retryAfter: 17 }), FOUR, '200 429 429 429'],
  ['retryAfter by request', () => ({ limit: 1, retryAfter: async () => 0 }), FOUR, '200 429 429 429'],
  [
    'a key',
    () => ({ limit: 1, keyGenerator: (req) => req.path }),
    [to('/a'), to('/b'), to('/a')],
    '200 200 429',
  ],
  [
    'an async key',
    () => ({ limit: 1, keyGenerator: async (req) => req.path }),
    [to('/a'), to('/b'), to('/a')],
    '200 200 429',
  ],
  [
    'a key of another type',
    () => ({ limit: 1, keyGenerator: (req) => req.path.length as unknown as string }),
    [to('/a'), to('/bb'), to('/c')],
    '200 200 429',
  ],
  [
    'an empty key',
    () => ({ limit: 1, keyGenerator: (req) => req.path.slice(1) }),
    [to('/'), to('/b'), to('/')],
    '200 200 429',
  ],
  [
    'a missing key',
    () => ({ limit: 1, keyGenerator: () => undefined as unknown as string }),
    FOUR,
    '200 429 429 429',
  ],
  [
    'a long key',
    () => ({ limit: 1, keyGenerator: (req) => req.path.slice(1).repeat(2000) }),
    [to('/a'), to('/b'), to('/a')],
    '200 200 429',
  ],
  [
    'a key with ipKeyGenerator',
    ({ ipKeyGenerator }) => ({
      limit: 1,
      standardHeaders: 'draft-8',
      keyGenerator: (req) => `x${ipKeyGenerator(req.ip as string)}`,
    }),
    FOUR,
    '200 429 429 429',
  ],
  [
    'a key that fails',
    () => ({
      limit: 1,
      keyGenerator: async () => {
        throw new Error('no user')
      },
    }),
    FOUR,
    '500 500 500 500',
  ],
  [
    'IPv6 by network',
    () => ({ limit: 1, standardHeaders: 'draft-8' }),
    [from('2001:db8:1:2ff::1'), from('2001:db8:1:200::2'), from('2001:db8:2::1')],
    '200 429 200',
  ],
  [
    'ipv6Subnet',
    () => ({ limit: 1, ipv6Subnet: 64 }),
    [from('2001:db8:1:2ff::1'), from('2001:db8:1:200::2'), from('2001:db8:1:200::3')],
    '200 200 429',
  ],
  ...['64', '064', '0'].map(
    (ipv6Subnet): Case => [
      `ipv6Subnet as text, ${ipv6Subnet}`,
      () => ({ limit: 1, ipv6Subnet: ipv6Subnet as unknown as number }),
      [from('2001:db8:1:2ff::1'), from('2001:db8:1:200::2'), from('2001:db8:1:200::3')],
      ipv6Subnet === '0' ? '200 429 429' : '200 200 429',
    ],
  ),
  [
    'ipv6Subnet: false',
    () => ({ limit: 1, ipv6Subnet: false }),
    [from('2001:db8::1'), from('2001:db8::2'), from('2001:db8::1')],
    '200 200 429',
  ],
  [
    'ipv6Subnet by request',
    () => ({ limit: 1, ipv6Subnet: async () => 48 }),
    [from('2001:db8:1:1::1'), from('2001:db8:1:2::1'), ALICE],
    '200 429 200',
  ],
  [
    'IPv4 in IPv6',
    () => ({ limit: 1 }),
    [from('::ffff:203.0.113.7'), ALICE, from('::ffff:203.0.113.8'), from('::1')],
    '200 429 200 200',
  ],
  [
    'skip',
    () => ({ limit: 1, skip: (req) => req.path === '/free' }),
    [to('/free'), to('/free'), ...times(2)],
    '200 200 200 429',
  ],
  [
    'an async skip',
    () => ({ limit: 1, skip: async (req) => req.path === '/free' }),
    [to('/free'), to('/free'), ...times(2)],
    '200 200 200 429',
  ],
  [
    'a skip that fails',
    () => ({
      skip: () => {
        throw new Error('skipped badly')
      },
    }),
    [ALICE],
    '500',
  ],
  [
    'skipFailedRequests',
    () => ({ limit: 1, skipFailedRequests: true }),
    [to('/404'), to('/500'), to('/200'), to('/200')],
    '404 500 200 429',
  ],
  [
    'skipSuccessfulRequests',
    () => ({ limit: 1, skipSuccessfulRequests: true }),
    [to('/200'), to('/302'), to('/404'), to('/200')],
    '200 302 404 429',
  ],
  [
    'both skips',
    () => ({ limit: 1, skipSuccessfulRequests: true, skipFailedRequests: true }),
    [to('/200'), to('/404'), to('/200')],
    '200 404 200',
  ],
  [
    'requestWasSuccessful',
    () => ({
      limit: 1,
      skipFailedRequests: true,
      requestWasSuccessful: async (_req, res) => res.statusCode === 404,
    }),
    [to('/200'), to('/404'), to('/404')],
    '200 404 429',
  ],
  [
    'requestPropertyName',
    () => ({ limit: 1, requestPropertyName: 'quota', standardHeaders: 'draft-8' }),
    FOUR,
    '200 429 429 429',
  ],
  [
    'methods',
    () => ({ limit: 3 }),
    [to('/', 'HEAD'), to('/', 'OPTIONS'), to('/', 'POST'), to('/', 'HEAD'), to('/', 'DELETE')],
    '200 200 200 429 429',
  ],
]

test.each(CASES.map(([name, ...rest]) => ({ name, rest })))(
  'both packages give the same answers: $name',
  async ({ rest: [make, requests, statuses, windowMs] }) => {
    const { original, ours } = await both(make, requests, windowMs)
    expect(statusesOf(original)).toBe(statuses)
    expect(ours).toEqual(original)
  },
)

function statusesOf({ answers }: Transcript): string {
  return answers.map((answer) => (answer as { status: number }).status).join(' ')
}
