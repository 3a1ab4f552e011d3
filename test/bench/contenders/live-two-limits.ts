import type { RequestHandler } from 'express'
import { rateLimit } from 'headgate'
import { LIVE_LIMITERS, type Setting } from './live-limiters.js'

type Make = (setting: Setting) => RequestHandler

/** Two middlewares, one after the other. */
const twice = (make: Make) => (setting: Setting) => [
  make(setting),
  make({ ...setting, limit: setting.limit + 1 }),
]

/** Makers of two limits on every client, by name. */
export const LIVE_TWO_LIMITS = {
  'headgate, two limits': ({ limit }: Setting) => {
    const window = '24h'
    const limits = [
      { name: 'first', limit, window },
      { name: 'second', limit: limit + 1, window },
    ]
    return rateLimit({ limits, headers: 'legacy' })
  },
  'express-rate-limit, twice': twice(LIVE_LIMITERS['express-rate-limit, legacy']),
  'a Map by hand, twice': twice(LIVE_LIMITERS['a Map by hand, legacy']),
} as const satisfies Readonly<Record<string, (setting: Setting) => RequestHandler | RequestHandler[]>>

export type LiveTwoLimitsName = keyof typeof LIVE_TWO_LIMITS
