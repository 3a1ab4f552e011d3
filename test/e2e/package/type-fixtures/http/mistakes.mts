// Each mistake is an error at the word that its comment begins with. What only Express has is one here.
import { rateLimit as fetchRateLimit } from 'headgate/fetch'
import { byUser, loginGuard, rateLimit } from 'headgate/http'

const limit = { limit: 2, window: '1h' } as const
const noWindow = { limit: 2 }

export const mistakes = [
  // @ts-expect-error max: there is no such option
  () => rateLimit({ ...limit, max: 2 }),
  // @ts-expect-error mode: there is no such choice
  () => rateLimit({ ...limit, mode: 'dry-run' }),
  // @ts-expect-error noWindow: a limit needs a window
  () => rateLimit(noWindow),
  // @ts-expect-error noWindow: a limit needs a window
  () => fetchRateLimit(noWindow),
  // @ts-expect-error policy: must not be a number
  () => rateLimit({ policy: 100 }),
  // @ts-expect-error path: requests of node:http have none
  () => rateLimit({ ...limit, skip: (req) => req.path === '/health' }),
  // @ts-expect-error status: responses of node:http have none
  () => rateLimit({ ...limit, onDenied: (_req, res) => res.status(429).end() }),
  // @ts-expect-error get: requests of node:http have none
  () => rateLimit({ ...limit, key: byUser((req) => req.get('x-user')) }),
  // @ts-expect-error locals: responses of node:http have none
  () => loginGuard({ field: 'username', succeeded: (_req, res) => res.locals.ok }),
  // @ts-expect-error feild: there is no such option
  () => loginGuard({ feild: 'username' }),
]
