import express, { type Express, type RequestHandler } from 'express'
import {
  LIVE_LIMITERS,
  LIVE_LISTENERS,
  LIVE_REDIS_LIMITERS,
  type LiveLimiterName,
  type Setting,
} from './live-limiters.js'
import { LIVE_TWO_LIMITS, type LiveTwoLimitsName } from './live-two-limits.js'

/** How many clients take turns where there are many. */
const MANY_CLIENTS = 10_000
const NEVER_REACHED = 10_000_000
const HELLO = 'GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n'

/** What a live application is asked, and what it has to answer. */
export interface Scenario {
  readonly limit: number
  /** How many limiters stand on the route. */
  readonly limiters: number
  readonly requests: readonly string[]
  /** The status of all answers once every client has sent two requests. */
  readonly status: number
}

const fromOne = [`${HELLO}\r\n`]
const fromMany = Array.from({ length: MANY_CLIENTS }, (_, i) => {
  return `${HELLO}X-Forwarded-For: 203.0.${i >> 8}.${i & 255}\r\n\r\n`
})

/** Scenarios by name. */
export const SCENARIOS = {
  'allowed, 1 client': { limit: NEVER_REACHED, limiters: 1, requests: fromOne, status: 200 },
  'allowed, 10,000 clients': { limit: NEVER_REACHED, limiters: 1, requests: fromMany, status: 200 },
  'denied, 1 client': { limit: 1, limiters: 1, requests: fromOne, status: 429 },
  'denied, 10,000 clients': { limit: 1, limiters: 1, requests: fromMany, status: 429 },
  'three limiters': { limit: NEVER_REACHED, limiters: 3, requests: fromOne, status: 200 },
  'five limiters': { limit: NEVER_REACHED, limiters: 5, requests: fromOne, status: 200 },
} as const satisfies Readonly<Record<string, Scenario>>

export type ScenarioName = keyof typeof SCENARIOS

export type LiveContender = LiveLimiterName | LiveTwoLimitsName

/** Creates the application of a contender in a scenario: one route that says hello behind its limiters. */
export function liveApp(contender: LiveContender, scenario: ScenarioName, redisUrl?: string): Express {
  const makers = { ...LIVE_LIMITERS, ...LIVE_REDIS_LIMITERS, ...LIVE_LISTENERS, ...LIVE_TWO_LIMITS }
  const make: (setting: Setting) => RequestHandler | RequestHandler[] = makers[contender]
  const { limit, limiters, requests } = SCENARIOS[scenario]
  const app = express()
  if (requests.length > 1) app.set('trust proxy', 1)
  for (let i = 0; i < limiters; i++)
    app.use(make({ limit: limit + i, ...(redisUrl !== undefined && { redisUrl }) }))
  return app.get('/', (_req, res) => {
    res.send('hello')
  })
}
