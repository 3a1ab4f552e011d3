// A server of node:http, in a project without Express' types.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import {
  byIp,
  byUser,
  createLimiter,
  type Decision,
  fixedWindow,
  type LoginGuardOptions,
  loginGuard,
  memoryStore,
  type RateLimited,
  type RateLimitMiddleware,
  type RateLimitOptions,
  rateLimit,
} from 'headgate/http'

const limiter = rateLimit({
  limits: [
    { policy: fixedWindow({ limit: 2, window: '1m' }), key: (req) => req.headers['x-api-key'] },
    {
      policy: (req) => fixedWindow({ limit: req.complete ? 2 : 1, window: '1m' }),
      skip: (req) => req.method === 'HEAD',
    },
  ],
  store: memoryStore({ maxKeys: 1000 }),
  skip: (req) => req.url === '/health',
  cost: 2,
  count: (_req, res) => res.statusCode >= 400,
  onStoreError: (error, req) => (error.replied && req.method === 'GET' ? 'allow' : 'deny'),
  onDenied(req, res, _next, decision) {
    res.writeHead(429, { 'content-type': 'application/json' })
    res.end(JSON.stringify({ path: req.url, retryAfterMs: decision.retryAfterMs }))
  },
})
const guard = loginGuard({
  account: (req) => req.headers.authorization,
  address: byUser((req) => req.socket.remoteAddress, { anonymous: byIp() }),
  succeeded: (_req, res) => res.statusCode === 204,
})

const options = { limit: 2, window: '1s', skip: (req) => req.url === '/' } satisfies RateLimitOptions
const guardOptions: LoginGuardOptions = {
  field: 'username',
  succeeded: (_req, res) => res.statusCode === 200,
}
export const declared: RateLimitMiddleware = rateLimit(options)
export const declaredGuard = loginGuard(guardOptions)

interface SignedRequest extends IncomingMessage {
  signature: string
}
export const signed = rateLimit({
  limit: 2,
  window: '1s',
  key: (req: SignedRequest) => req.signature,
  onDenied: (req, res) => res.end(req.signature),
})
interface TimedResponse extends ServerResponse {
  startedMs: number
}
export const timed = rateLimit({
  limit: 2,
  window: '1s',
  key: (req: SignedRequest) => req.signature,
  skip: (req) => req.signature === '',
  count: (_req, res: TimedResponse) => res.startedMs > 0,
})
export const timedGuard = loginGuard({
  account: (req: SignedRequest) => req.signature,
  skip: (req) => req.signature === '',
  succeeded: (_req, res: TimedResponse) => res.startedMs > 0,
})
export const users = createLimiter({ limit: 2, window: '1s', key: (user: { id: number }) => user.id })
export const decision: Decision | Promise<Decision> = users.charge({ id: 7 })

async function answer(req: RateLimited, res: ServerResponse, error: unknown): Promise<void> {
  const remaining: number | undefined = req.rateLimit?.remaining
  res.end(`${String(error)} ${remaining} ${await guard.accountId(req)}`)
}

export const servers = [
  createServer((req, res) => limiter(req, res, (error) => answer(req, res, error))),
  createSecureServer((req, res) => guard(req, res, (error) => answer(req, res, error))),
]
