/**
 * Serves an API with metrics for Prometheus at /metrics, and sends it some traffic to look at.
 *
 *     npx tsx examples/metrics.ts
 *
 * PORT sets a port other than 3000; TRAFFIC=off sends none. examples/metrics/compose.yaml starts Prometheus and
 * Grafana with a dashboard beside it.
 */
import type { AddressInfo } from 'node:net'
import express, { type Express } from 'express'
import { fixedWindow, logEvents, memoryStore, rateLimit } from 'headgate'
import { prometheusMetrics } from 'headgate/metrics'
import client from 'prom-client'

const store = memoryStore()

/** Creates an API of 20 requests a minute for each token, which tries 15 requests in 10 seconds beside it. */
export function measuredApp(): Express {
  const api = rateLimit({
    name: 'api',
    limit: 20,
    window: '1m',
    key: (req) => req.get('authorization'),
    store,
    candidate: { policy: fixedWindow({ limit: 15, window: '10s' }) },
  })
  logEvents(api.limiter, console)
  prometheusMetrics(client, { stores: { api: store } })

  const app = express().disable('x-powered-by')
  app.get('/metrics', async (_req, res) => {
    res.type(client.register.contentType).send(await client.register.metrics())
  })
  app.get('/', api, (_req, res) => {
    res.type('text').send('hello\n')
  })
  return app
}

/** Sends a request of each of five clients now and then: the higher its number, the more often. */
function sendTraffic(url: string): void {
  const send = (clientNumber: number) => {
    fetch(url, { headers: { authorization: `client-${clientNumber}` } })
      .then((response) => response.body?.cancel())
      .catch(() => {}) // the server is closing
  }
  for (let i = 1; i <= 5; i++) setInterval(() => send(i), 6000 / i).unref()
}

function main(): void {
  const server = measuredApp().listen(Number(process.env.PORT ?? 3000), () => {
    const url = `http://localhost:${(server.address() as AddressInfo).port}`
    console.log(`Metrics at ${url}/metrics. Ctrl-C stops it.`)
    if (process.env.TRAFFIC !== 'off') sendTraffic(url)
  })
  process.once('SIGINT', () => server.close())
  process.once('SIGTERM', () => server.close())
}

if (process.argv[1] === import.meta.filename) main()
