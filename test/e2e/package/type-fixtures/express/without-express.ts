// The middleware of an Express project in its other servers: Connect, and a handler of node:http.
import { createServer } from 'node:http'
import connect from 'connect'
import { loginGuard, type RateLimited, rateLimit } from 'headgate'

const limiter = rateLimit({ limit: 2, window: '1m' })
const guard = loginGuard({ field: 'username' })

const app = connect()
app.use(limiter)
app.use('/login', guard)
app.use('/api', rateLimit({ limit: 2, window: '1m', count: 'failed' }))

export const servers = [
  createServer(app),
  createServer((req: RateLimited, res) => {
    limiter(req, res, (error) => {
      res.statusCode = error === undefined ? 200 : 500
      res.end(String(req.rateLimit?.remaining))
    })
  }),
]
