// A server that is bundled with all that it uses. It charges itself, and prints what it saw.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { createLimiter, rateLimit } from 'headgate'
import { dashboard } from 'headgate/dashboard'
import { prometheusMetrics } from 'headgate/metrics'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import client from 'prom-client'

async function main() {
  const register = new client.Registry()
  const stop = prometheusMetrics(client, { register })
  const api = rateLimit({ name: 'api', limit: 2, window: '1m' })
  const page = dashboard({ limiters: [api.limiter], authorize: () => true })
  const server = createServer((req, res) => {
    if (req.url.startsWith('/page/')) return page(req, res)
    api(req, res, (error) => {
      res.statusCode = error ? 500 : 200
      res.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const visit = (path) => fetch(`http://127.0.0.1:${server.address().port}${path}`)

  const redis = new Redis(process.env.REDIS_URL, { autoResendUnfulfilledCommands: false })
  await redis.ping()
  const shared = createLimiter({
    name: `all-${process.pid}`,
    limit: 3,
    window: '1h',
    key: String,
    store: redisStore(redis),
  })
  const charges = await Promise.all(Array.from({ length: 5 }, () => shared.charge('ada')))

  const seen = {
    statuses: [],
    shared: charges.map(({ allowed, source }) => `${allowed} by ${source}`),
    page: [],
  }
  for (let i = 0; i < 3; i++) seen.statuses.push((await visit('/')).status)
  for (const name of ['', 'main.js', 'page.css', 'inter.woff2']) {
    const response = await visit(`/page/${name}`)
    seen.page.push([response.status, (await response.arrayBuffer()).byteLength])
  }
  seen.denials = /^headgate_limit_denials_total\{.*limiter="api".*\} (\d+)$/m.exec(
    await register.metrics(),
  )?.[1]
  console.log(JSON.stringify(seen))

  stop()
  page.close()
  server.close()
  server.closeAllConnections()
  redis.disconnect()
}

main()
