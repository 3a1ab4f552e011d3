// A server of node:http in CommonJS.
import http = require('node:http')
import headgate = require('headgate/http')

const policy: headgate.Policy = headgate.slidingWindow({ limit: 2, window: '1h' })
const store: headgate.Store = headgate.memoryStore()
const options: headgate.RateLimitOptions = { policy, store, skip: (req) => req.url === '/health' }
const limiter = headgate.rateLimit(options)
const guard = headgate.loginGuard({ field: 'username', succeeded: (_req, res) => res.statusCode === 204 })

export = http.createServer((req: headgate.RateLimited, res) => {
  limiter(req, res, () => guard(req, res, () => res.end(String(req.rateLimit?.remaining))))
})
