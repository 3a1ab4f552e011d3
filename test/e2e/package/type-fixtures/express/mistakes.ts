// Each mistake is an error at the word that its comment begins with.
import {
  byIp,
  byUser,
  candidateLimits,
  createLimiter,
  loginGuard,
  type RateLimitOptions,
  rateLimit,
  requestDelay,
  responseCost,
} from 'headgate'

const limit = { limit: 2, window: '1h' } as const
const noWindow = { limit: 2 }

export const ofOptions = [
  // @ts-expect-error max: there is no such option
  () => rateLimit({ ...limit, max: 2 }),
  // @ts-expect-error mode: there is no such choice
  () => rateLimit({ ...limit, mode: 'dry-run' }),
  // @ts-expect-error policy: must not be a number
  () => rateLimit({ policy: 100 }),
  // @ts-expect-error limit: must be a number
  () => rateLimit({ limit: '2', window: '1h' }),
  // @ts-expect-error key: must be a function
  () => rateLimit({ ...limit, key: 'ip' }),
  // @ts-expect-error 'ip': must be a function
  () => rateLimit({ ...limit, key: [byIp(), 'ip'] }),
  // @ts-expect-error noWindow: each of several limits needs a window
  () => rateLimit({ limits: [noWindow] }),
  // @ts-expect-error noWindow: a limit needs a window
  () => rateLimit(noWindow),
  // @ts-expect-error noWindow: a limit needs a window
  () => createLimiter(noWindow),
  // @ts-expect-error noWindow: a limit needs a window
  () => candidateLimits(noWindow),
  // @ts-expect-error candidate: what candidateLimits returns
  () => rateLimit({ ...limit, candidate: limit }),
  // @ts-expect-error delay: what requestDelay returns
  () => rateLimit({ ...limit, delay: limit }),
  // @ts-expect-error actualCost: what responseCost returns
  () => rateLimit({ ...limit, actualCost: () => 1 }),
  // @ts-expect-error rateLimit: options are required
  () => rateLimit(),
  // @ts-expect-error feild: there is no such option
  () => loginGuard({ feild: 'username' }),
  // @ts-expect-error failureRedirect: must not be true
  () => loginGuard({ field: 'username', failureRedirect: true }),
  // @ts-expect-error succeeded: must not be async
  () => loginGuard({ field: 'username', succeeded: async () => true }),
  // @ts-expect-error max: there is no such option
  () => createLimiter({ ...limit, max: 2 }),
  // @ts-expect-error max: there is no such option
  () => ({ ...limit, max: 2 }) satisfies RateLimitOptions,
]

export const ofCallbacks = [
  // @ts-expect-error message: must not be a number
  () => rateLimit({ ...limit, message: 3, skip: (req) => req.path === '/health' }),
  // @ts-expect-error pth: requests have no such property
  () => rateLimit({ ...limit, skip: (req) => req.pth === '/health' }),
  // @ts-expect-error skip: must return a boolean
  () => rateLimit({ ...limit, skip: (req) => req.path }),
  // @ts-expect-error cost: must return a number
  () => rateLimit({ ...limit, cost: (req) => req.path }),
  // @ts-expect-error policy: must not return a number
  () => rateLimit({ policy: (req) => (req.secure ? 100 : 10) }),
  // @ts-expect-error sendd: responses have no such method
  () => rateLimit({ ...limit, onDenied: (_req, res) => res.sendd('wait') }),
  // @ts-expect-error usr: requests have no such property
  () => rateLimit({ ...limit, key: byUser((req) => req.usr) }),
  // @ts-expect-error usr: requests have no such property
  () => rateLimit({ ...limit, delay: requestDelay({ after: 1, by: (_used, req) => req.usr }) }),
  // @ts-expect-error locls: responses have no such property
  () => rateLimit({ ...limit, actualCost: responseCost((_req, res) => res.locls.tokens) }),
  // @ts-expect-error usr: requests have no such property
  () => rateLimit({ ...limit, candidate: candidateLimits({ ...limit, key: (req) => req.usr }) }),
  // @ts-expect-error usr: requests have no such property
  () => rateLimit({ limits: [{ limit: 2, window: '1m', key: (req) => req.usr }] }),
  // @ts-expect-error locls: responses have no such property
  () => loginGuard({ field: 'username', succeeded: (_req, res) => res.locls.ok }),
  // @ts-expect-error skip: no request is a string
  () => rateLimit({ ...limit, skip: (req: string) => req === '/health' }),
]
