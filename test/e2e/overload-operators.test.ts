import express from 'express'
import { overloadGuard } from 'headgate'
import { type Dashboard, dashboard } from 'headgate/dashboard'
import { prometheusMetrics } from 'headgate/metrics'
import client from 'prom-client'
import { heldRequests } from '../support/held-requests.js'
import { closeServers, type Served, send, serve } from '../support/http.js'
import { atMost, watch } from '../support/overload.js'
import { until } from '../support/servers/wait.js'
import { openPage, post } from './dashboard-mounts.js'

let page: Dashboard | undefined
let stopMetrics = () => {}
afterEach(async () => {
  page?.close()
  stopMetrics()
  await closeServers()
})

/** Serves a route behind a guard of one place, a dashboard, and metrics. Sends one request that is held, and ten. */
async function overloaded(mode: 'enforce' | 'report') {
  const guard = overloadGuard({ ...atMost(1), name: 'server', mode })
  const register = new client.Registry()
  stopMetrics = prometheusMetrics(client, { register })
  page = dashboard({ limiters: [guard.limiter], authorize: () => true })
  const { handle, arrived, answerAll } = heldRequests()
  const app = express().use('/limits', page)
  app.get('/metrics', async (_req, res) => void res.send(await register.metrics()))
  app.use(guard, handle as never)
  const served = await serve(app)
  const held = send(served, { path: '/wait' })
  await arrived(1)
  await watch(guard).runs(1)
  const answers = await Promise.all(Array.from({ length: 10 }, () => send(served, { path: '/' })))
  answerAll()
  const statuses = [await held, ...answers].map(({ status }) => status)
  const metrics = (await send(served, { path: '/metrics' })).text
  return {
    served,
    statuses,
    lines: metrics.split('\n').filter((line) => /^headgate_(decis|limit_)/.test(line)),
  }
}

/** Returns what the page shows at first. */
async function shownBy(served: Served) {
  const opened = await openPage(served, '/limits/stream?limiter=server')
  await until('the first frame has arrived', () => opened.frames().length === 1)
  opened.close()
  const { rows = [], detail } = opened.frames()[0] ?? {}
  return { row: rows[0], limits: detail?.limits }
}

const counted = (outcome: string, mode: string, count: number) =>
  `headgate_decisions_total{limiter="server",limit="overload",outcome="${outcome}",source="overload",mode="${mode}"} ${count}`

test('operators see that a guard has no place, in metrics and on the dashboard, and can release no client', async () => {
  const { served, statuses, lines } = await overloaded('enforce')
  expect(statuses).toEqual([200, ...Array(10).fill(503)])
  expect(lines.sort()).toEqual([
    counted('allowed', 'enforce', 1),
    counted('denied', 'enforce', 10),
    'headgate_limit_denials_total{limiter="server",limit="overload",mode="enforce"} 10',
  ])
  const { row, limits } = await shownBy(served)
  expect(row).toMatchObject({ name: 'server', mode: 'enforce', isOverloadGuard: true, hasSettings: false })
  expect(row?.finding).toMatchObject({ kind: 'overload', level: 'critical', identities: [], networks: [] })
  expect(row?.finding.sentence).toMatch(/^Requests have found no place since \{\d+\}/)
  expect(limits).toMatchObject([{ name: 'overload', kind: 'concurrency', limit: 1, allowed: 1, denied: 10 }])
  const targets = [{ identity: '127.0.0.1' }]
  const body = { limiter: 'server', targets, by: 'ines', reason: 'ticket 7' }
  const released = await post(served, '/limits/release', body)
  expect(released.status).toBe(400)
  expect(released.text).toContain('there is no forget for a guard, which counts no units of clients')
})

test('in report mode, they see what would have found no place', async () => {
  const { served, statuses, lines } = await overloaded('report')
  expect(statuses).toEqual(Array(11).fill(200))
  expect(lines.sort()).toEqual([
    counted('allowed', 'report', 1),
    counted('denied', 'report', 10),
    'headgate_limit_denials_total{limiter="server",limit="overload",mode="report"} 10',
  ])
  const { row } = await shownBy(served)
  expect(row?.finding).toMatchObject({ kind: 'overload', level: 'warning' })
  expect(row?.finding.sentence).toMatch(/^Requests would have found no place since \{\d+\}/)
})
