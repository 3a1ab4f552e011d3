import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { startPrometheus } from '../../support/servers/prometheus.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
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

let redis: RedisServer
let example: Example
let prometheus: Server

beforeAll(async () => {
  redis = await startRedis({ own: true })
  example = await startExample(`${EXAMPLE}.ts`, { TRAFFIC: 'off', REDIS_URL: redis.url })
  prometheus = await startPrometheus(new URL(example.url).host)
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  await prometheus?.stop()
  await example?.stop()
  await redis?.stop()
})

/** Returns what Prometheus has for an expression of the dashboard, with what Grafana puts into it. */
async function query(expr: string): Promise<{ status: string; error: string | undefined; values: number[] }> {
  const url = new URL('/api/v1/query', prometheus.url)
  url.searchParams.set(
    'query',
    expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$(job|limiter)/g, '.*'),
  )
  const { status, error, data } = (await (await fetch(url)).json()) as PrometheusReply
  const values = data?.result.map(({ value }) => Number(value[1])) ?? []
  return { status, error, values }
}

/** Returns the first value of an expression; 0 without one. */
async function firstOf(expr: string): Promise<number> {
  return (await query(expr)).values[0] ?? 0
}

async function send(path: string, authorization = 'ada'): Promise<number> {
  const response = await fetch(example.url + path, { headers: { authorization } })
  await response.body?.cancel()
  return response.status
}

test('Prometheus scrapes the example, and every panel of the dashboard has its figures', async () => {
  const statuses: number[] = []
  await until('Prometheus has a rate of denials, and of calls of Redis', async () => {
    for (let i = 0; i < 10; i++) statuses.push(await send('/'))
    await Promise.all(Array.from({ length: 5 }, () => send('/search')))
    const calls = await firstOf('sum(rate(headgate_store_operation_duration_seconds_count[1m]))')
    return calls > 0 && (await firstOf('sum(rate(headgate_limit_denials_total[1m]))')) > 0
  })
  expect(statuses.slice(0, 21)).toEqual([...Array(20).fill(200), 429])
  await redis.kill()
  await until('Prometheus has a rate of failures, and an open circuit breaker', async () => {
    for (let i = 0; i < 5; i++) await send('/search')
    const failures = 'headgate_store_operation_duration_seconds_count{error_type!=""}'
    const open = await firstOf('max(headgate_circuit_breaker_state{store="redis",state="open"})')
    return open === 1 && (await firstOf(`sum(rate(${failures}[1m]))`)) > 0
  })
  expect(await send('/search', 'grace')).toBe(200) // this process counts while Redis is down
  for (const { title, targets } of dashboard.panels) {
    const results = await Promise.all(targets.map(({ expr }) => query(expr)))
    expect(results.filter(({ status }) => status !== 'success')).toEqual([])
    expect([title, results.some(({ values }) => values.some(Number.isFinite))]).toEqual([title, true])
  }
  expect((await query('headgate_store_keys')).values).toEqual([1]) // a candidate has a store of its own
})

test('every figure is of the chosen jobs, and figures of two jobs are apart wherever limiters or stores are', () => {
  const exprs = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
  const mixed = exprs.filter((expr) => {
    const metrics = expr.match(/headgate_\w+/g) ?? []
    const ofJobs = expr.match(/headgate_\w+\{job=~"\$job"/g) ?? []
    const groups = expr.match(/(by|on) \([^)]*\b(limiter|store)\b[^)]*\)/g) ?? []
    return metrics.length !== ofJobs.length || groups.some((group) => !group.includes('job, '))
  })
  expect([exprs.length > 10, mixed]).toEqual([true, []])
})

test('the dashboard names only metrics that headgate has', async () => {
  const page = await (await fetch(`${example.url}/metrics`)).text()
  const known = [...page.matchAll(/^# TYPE (headgate_\w+) (\w+)$/gm)].flatMap(([, name, type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  )
  const named = JSON.stringify(dashboard).match(/headgate_\w+/g) ?? []
  expect([...new Set(named)].filter((name) => !known.includes(name))).toEqual([])
})
