import { createServer } from 'node:http'
import { rateLimit } from 'headgate/http'

const limit = rateLimit({ limit: 5, window: '1h', skip: (req) => req.url === '/health' })

const server = createServer((req, res) => {
  limit(req, res, (error) => {
    res.statusCode = error ? 500 : 200
    res.end(error ? 'error\n' : 'hello\n')
  })
})
server.listen(Number(process.env.PORT), '127.0.0.1')
