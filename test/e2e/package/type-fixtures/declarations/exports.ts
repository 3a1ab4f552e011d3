// What a library or a monorepo exports: its declarations have to name all types by packages that it has.
import { byUser, createLimiter, loginGuard, rateLimit } from 'headgate'

export const limit = rateLimit({ limit: 2, window: '1m' })
export const guard = loginGuard({ field: 'username' })
export const key = byUser((req) => req.get('x-user'))
export const limiter = createLimiter({ limit: 2, window: '1m', key: () => 'all' })
export const factories = { byUser, loginGuard, rateLimit }
export class Limits {
  readonly create = rateLimit
  readonly login = loginGuard({ field: 'username', succeeded: (_req, res) => res.locals.ok })
}
