import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { startPrometheus } from '../../support/servers/prometheus.js'
import type { Server } from '../../support/servers/server.js'
import { until } from '../../support/servers/wait.js'
import { type Example, startExample } from './start-example.js'

interface Panel {
  readonly title: string
  readonly targets: readonly { readonly expr: string }[]
}

/** What Prometheus replies to an instant query. */
interface PrometheusReply {
  readonly status: string
  readonly error?: string
  readonly data?: { readonly result: readonly { readonly value: readonly [number, string] }[] }
}

const EXAMPLE = join(__dirname, '../../../examples/metrics')
const dashboard: { panels: readonly Panel[] } = JSON.parse(
  readFileSync(join(EXAMPLE, 'grafana/dashboard.json'), 'utf8'),
)
/** Panels about remote stores, which the example does not use. */
const OF_REMOTE_STORES = [
  'Store latency',
  'Failed store operations',
  'Operations in a batch',
  'Open circuit breakers',
]

let example: Example
let prometheus: Server

beforeAll(async () => {
  example = await startExample(`${EXAMPLE}.ts`, { TRAFFIC: 'off' })
  prometheus = await startPrometheus(new URL(example.url).host)
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  await prometheus?.stop()
  await example?.stop()
})

/** Returns what Prometheus has for an expression of the dashboard, with what Grafana puts into it. */
async function query(expr: string): Promise<{ status: string; error: string | undefined; values: number[] }> {
  const url = new URL('/api/v1/query', prometheus.url)
  url.searchParams.set('query', expr.replaceAll('$__rate_interval', '1m').replaceAll('$limiter', '.*'))
  const { status, error, data } = (await (await fetch(url)).json()) as PrometheusReply
  const values = data?.result.map(({ value }) => Number(value[1])) ?? []
  return { status, error, values }
}

test('Prometheus scrapes the example, and every panel of the dashboard has its figures', async () => {
  const send = async () => {
    const { status } = await fetch(example.url, { headers: { authorization: 'ada' } })
    return status
  }
  const statuses: number[] = []
  await until('Prometheus has a rate of denials', async () => {
    for (let i = 0; i < 10; i++) statuses.push(await send())
    const { values } = await query('sum(rate(headgate_decisions_total{outcome="denied"}[1m]))')
    return (values[0] ?? 0) > 0
  })
  expect(statuses.slice(0, 21)).toEqual([...Array(20).fill(200), 429])
  for (const { title, targets } of dashboard.panels) {
    const results = await Promise.all(targets.map(({ expr }) => query(expr)))
    expect(results.filter(({ status }) => status !== 'success')).toEqual([])
    const hasFigures = results.some(({ values }) => values.length > 0)
    expect([title, hasFigures]).toEqual([title, !OF_REMOTE_STORES.includes(title)])
  }
  const { values } = await query('headgate_store_keys')
  expect(values).toEqual([1]) // a candidate has a store of its own
})

test('the dashboard names only metrics that headgate has', async () => {
  const page = await (await fetch(`${example.url}/metrics`)).text()
  const known = [...page.matchAll(/^# TYPE (headgate_\w+) (\w+)$/gm)].flatMap(([, name, type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  )
  const named = JSON.stringify(dashboard).match(/headgate_\w+/g) ?? []
  expect([...new Set(named)].filter((name) => !known.includes(name))).toEqual([])
})
