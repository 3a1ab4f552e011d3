import { concurrency, responseCost } from 'headgate'

/** An event of API Gateway (HTTP API). */
export const eventFor = (status: number) => ({
  version: '2.0',
  routeKey: '$default',
  rawPath: `/${status}`,
  rawQueryString: '',
  headers: { host: 'example.org', 'content-type': 'application/json' },
  requestContext: {
    http: {
      method: 'POST',
      path: `/${status}`,
      sourceIp: '203.0.113.7',
      protocol: 'HTTP/1.1',
      userAgent: 'x',
    },
    stage: '$default',
    requestId: 'a',
  },
  body: '{}',
  isBase64Encoded: false,
})

/** The limits under test, by the options that all frameworks have. */
const WITHOUT_SUCCESSES = { limit: 2, window: '1h', count: 'failed' } as const
const WITHOUT_FAILURES = { limit: 2, window: '1h', count: 'successful' } as const
const BY_COST = { limit: 2, window: '1h', actualCost: responseCost<unknown, unknown>(() => 0) } as const
const AT_ONCE = { policy: concurrency({ limit: 1, ttl: '1h' }) }

export type Options = typeof WITHOUT_SUCCESSES | typeof WITHOUT_FAILURES | typeof BY_COST | typeof AT_ONCE

/** Requests for a status each, one after the other, and the statuses of their responses. */
interface Refund {
  readonly options: Options
  readonly sent: readonly number[]
  readonly seen: readonly number[]
}

/** A guarded login, whose failures only a success clears. */
export const GUARD = { account: () => 'ada', path: ['/200', '/401'] }

const FOUR_AND_ONE = [401, 401, 401, 401, 200]

/** Logins of one account for a status each, and the statuses of their responses. */
export const LOGINS = {
  options: GUARD,
  sent: [...FOUR_AND_ONE, ...FOUR_AND_ONE, 401, 401, 401, 401, 401, 401],
  seen: [...FOUR_AND_ONE, ...FOUR_AND_ONE, 401, 401, 401, 401, 401, 429],
} as const

/** What each limit does with requests that it does not count. */
export const REFUNDS: readonly Refund[] = [
  {
    options: WITHOUT_SUCCESSES,
    sent: [200, 200, 200, 401, 401, 200],
    seen: [200, 200, 200, 401, 401, 429],
  },
  {
    options: WITHOUT_FAILURES,
    sent: [401, 401, 401, 200, 200, 401],
    seen: [401, 401, 401, 200, 200, 429],
  },
  { options: BY_COST, sent: [200, 200, 200, 200], seen: [200, 200, 200, 200] },
  { options: AT_ONCE, sent: [200, 401, 200], seen: [200, 401, 200] },
]
