import type { RequestHandler } from 'express'
import { overloadGuard, rateLimit } from 'headgate'

/** What stands before a handler: what the guard of overload costs is compared with the others. */
export const LIVE_GUARDS = {
  nothing: () => (_req, _res, next) => next(),
  overloadGuard: () => overloadGuard(),
  'rateLimit without headers': () => rateLimit({ limit: 10_000_000, window: '24h', headers: 'none' }),
  'a counter by hand': counter,
} as const satisfies Readonly<Record<string, () => RequestHandler>>

export type LiveGuardName = keyof typeof LIVE_GUARDS

/** The least that bounds how many requests run: a fixed limit, which holds places until a response is over. */
function counter(): RequestHandler {
  let running = 0
  return (_req, res, next) => {
    if (running >= 1000) {
      res.status(503).end()
      return
    }
    running++
    res.once('close', () => running--)
    next()
  }
}
