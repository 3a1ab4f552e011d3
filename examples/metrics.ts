/**
 * Serves an API with metrics for Prometheus at /metrics, and sends it some traffic to look at.
 *
 *     npx tsx examples/metrics.ts
 *
 * PORT sets a port other than 3000; TRAFFIC=off sends none. With REDIS_URL, the limit of /search is in Redis,
 * and the panels about remote stores have figures. examples/metrics/compose.yaml starts Redis, Prometheus, and
 * Grafana with a dashboard.
 */
import type { AddressInfo } from 'node:net'
import express, { type Express } from 'express'
import {
  byHeader,
  candidateLimits,
  fixedWindow,
  logEvents,
  memoryStore,
  rateLimit,
  type Store,
} from 'headgate'
import { prometheusMetrics } from 'headgate/metrics'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import client from 'prom-client'

const memory = memoryStore()

/**
 * Creates an API of 20 requests a minute for each token, with a candidate of 15 requests in 10 seconds, and a
 * search of 60 requests a minute, which counts in `searchStore`.
 */
export function measuredApp(searchStore: Store = memory): Express {
  const key = byHeader('authorization')
  const api = rateLimit({
    name: 'api',
    limit: 20,
    window: '1m',
    key,
    store: memory,
    candidate: candidateLimits({ policy: fixedWindow({ limit: 15, window: '10s' }) }),
  })
  const search = rateLimit({ name: 'search', limit: 60, window: '1m', key, store: searchStore })
  for (const { limiter } of [api, search]) logEvents(limiter, console)
  prometheusMetrics(client, { stores: { memory } })

  const app = express().disable('x-powered-by')
  app.get('/metrics', async (_req, res) => {
    res.type(client.register.contentType).send(await client.register.metrics())
  })
  app.get('/', api, (_req, res) => {
    res.type('text').send('hello\n')
  })
  app.get('/search', search, (_req, res) => {
    res.type('text').send('found\n')
  })
  return app
}

/** Connects to the Redis server at REDIS_URL, if it is set. */
function connectRedis(url = process.env.REDIS_URL): Redis | undefined {
  if (!url) return undefined
  const redis = new Redis(url, {
    autoResendUnfulfilledCommands: false, // a charge that is sent again counts twice
  })
  return redis.on('error', ({ message }) => console.error('Redis:', message))
}

/** Sends requests of each of five clients now and then: the higher its number, the more often. */
function sendTraffic(url: string): void {
  const send = (path: string, clientNumber: number) => {
    fetch(url + path, { headers: { authorization: `client-${clientNumber}` } })
      .then((response) => response.body?.cancel())
      .catch(() => {}) // the server is closing
  }
  for (let i = 1; i <= 5; i++) {
    setInterval(() => send('/', i), 6000 / i).unref()
    setInterval(() => send('/search', i), 3000 / i).unref()
  }
}

function main(): void {
  const redis = connectRedis()
  const app = measuredApp(redis && redisStore(redis))
  const server = app.listen(Number(process.env.PORT ?? 3000), () => {
    const url = `http://localhost:${(server.address() as AddressInfo).port}`
    console.log(`Metrics at ${url}/metrics. Ctrl-C stops it.`)
    if (process.env.TRAFFIC !== 'off') sendTraffic(url)
  })
  const stop = () => server.close(() => redis?.disconnect())
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}

if (process.argv[1] === import.meta.filename) main()
