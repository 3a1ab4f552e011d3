import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { candidateLimits, createLimiter, fixedWindow, memoryStore, type Store } from 'headgate'
import { openTelemetryMetrics, prometheusMetrics } from 'headgate/metrics'
import client from 'prom-client'
import { brokenStore, promisingStore, storeThat } from '../../support/fault-stores.js'
import { until } from '../../support/servers/wait.js'
import { chargeStore } from '../../support/store-calls.js'

const policy = fixedWindow({ limit: 5, window: '1h' })
const key = (id: string) => id

/** Lets limiters decide in each way that has a metric of its own. */
async function decideInManyWays(): Promise<void> {
  const api = createLimiter({ name: 'api', policy, key, store: memoryStore() })
  for (let i = 0; i < 6; i++) await api.charge('<b>ada</b>')
  const candidate = candidateLimits({ policy: fixedWindow({ limit: 1, window: '1h' }), key })
  const tried = createLimiter({ name: 'tried', policy, key, store: memoryStore(), candidate, mode: 'report' })
  for (let i = 0; i < 2; i++) await tried.charge('ada')
  const remote = createLimiter({ policy, key, store: promisingStore() })
  await remote.charge('ada')
  const refuse = () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
  const broken = createLimiter({
    ...{ name: 'broken', policy, key },
    ...{ store: storeThat(refuse), onStoreError: 'allow' },
  })
  broken.events.on('storeError', () => {})
  for (let i = 0; i < 30; i++) await broken.charge('ada')
}

describe('prometheusMetrics', () => {
  let register: client.Registry
  let stop: () => void

  beforeEach(() => {
    register = new client.Registry()
    const store = memoryStore()
    chargeStore(store, [[{ key: 'a', policy, cost: 1 }]])
    stop = prometheusMetrics(client, { register, stores: { sessions: store } })
  })
  afterEach(() => stop())

  test('counts decisions by limiter, limit, outcome, source and mode', async () => {
    await decideInManyWays()
    const text = await register.metrics()
    const lines = text
      .split('\n')
      .filter((line) => /^headgate_(decisions|limit_denials|near|candidate|store_keys)/.test(line))
    expect(lines).toEqual([
      'headgate_decisions_total{limiter="api",limit="api",outcome="allowed",source="store",mode="enforce"} 5',
      'headgate_decisions_total{limiter="api",limit="api",outcome="denied",source="store",mode="enforce"} 1',
      'headgate_decisions_total{limiter="tried",limit="tried",outcome="allowed",source="store",mode="report"} 2',
      'headgate_decisions_total{limiter="_default",limit="5-in-1h",outcome="allowed",source="store",mode="enforce"} 1',
      'headgate_decisions_total{limiter="broken",limit="",outcome="allowed",source="fail-open",mode="enforce"} 30',
      'headgate_limit_denials_total{limiter="api",limit="api",mode="enforce"} 1',
      'headgate_near_limit_decisions_total{limiter="api",limit="api"} 2',
      'headgate_candidate_decisions_total{limiter="tried",limit="tried",outcome="allowed",candidate_outcome="allowed"} 1',
      'headgate_candidate_decisions_total{limiter="tried",limit="tried",outcome="allowed",candidate_outcome="denied"} 1',
      'headgate_store_keys{store="sessions"} 1',
    ])
    expect(text).not.toContain('ada')
  })

  /** Returns the lines of a metric. */
  async function linesOf(name: string): Promise<string[]> {
    return (await register.metrics()).split('\n').filter((line) => line.startsWith(`${name}{`))
  }

  test('counts clients near each limit, and the denials of each, not only of the limit that decided', async () => {
    const limits = [
      { name: 'burst', policy: fixedWindow({ limit: 10, window: '1h' }) },
      { name: 'daily', policy: fixedWindow({ limit: 1000, window: '1d' }) },
    ]
    const limiter = createLimiter({ name: 'api', limits: limits.map((limit) => ({ ...limit, key })) })
    await limiter.penalize('ada', 984, { limits: ['daily'] })
    await limiter.charge('ada') // leaves 9 of 10, and 15 of 1,000
    expect(await linesOf('headgate_near_limit_decisions_total')).toEqual([
      'headgate_near_limit_decisions_total{limiter="api",limit="daily"} 1',
    ])
    await limiter.charge('ada', { cost: 20 })
    await limiter.charge('ada', { cost: 10 })
    expect(await linesOf('headgate_limit_denials_total')).toEqual([
      'headgate_limit_denials_total{limiter="api",limit="burst",mode="enforce"} 2',
      'headgate_limit_denials_total{limiter="api",limit="daily",mode="enforce"} 1',
    ])
    expect(await linesOf('headgate_decisions_total')).toEqual([
      expect.stringMatching(/limit="burst",outcome="allowed",.* 1$/),
      expect.stringMatching(/limit="burst",outcome="denied",.* 2$/),
    ])
  })

  test('of 2,000 limits that a policy function returns, 100 have a series, and _other counts the rest', async () => {
    const policyOf = (plan: string) => fixedWindow({ limit: Number(plan), window: '1h' })
    const limiter = createLimiter<string>({
      policy: policyOf,
      key,
      candidate: candidateLimits({ policy: policyOf }),
    })
    for (let plan = 1; plan <= 2000; plan++) await limiter.charge(String(plan))
    await limiter.charge('1') // denied
    const counts = await linesOf('headgate_decisions_total')
    expect(counts).toHaveLength(102)
    expect(counts.filter((line) => line.includes('limit="_other"'))).toEqual([
      'headgate_decisions_total{limiter="_default",limit="_other",outcome="allowed",source="store",mode="enforce"} 1900',
    ])
    expect(await linesOf('headgate_limit_denials_total')).toEqual([
      'headgate_limit_denials_total{limiter="_default",limit="1-in-1h",mode="enforce"} 1',
    ])
    expect(await linesOf('headgate_candidate_decisions_total')).toHaveLength(102)
  })

  test('measures operations of remote stores, and the states of circuit breakers', async () => {
    await decideInManyWays()
    const text = await register.metrics()
    const operations = 'headgate_store_operation_duration_seconds_count'
    expect(text).toContain(`${operations}{limiter="_default",store="promising",operation="charge"} 1`)
    expect(text).toMatch(
      new RegExp(
        `${operations}\\{limiter="broken",store="\\w+",operation="charge",error_type="ECONNREFUSED"\\} \\d`,
      ),
    )
    const states = [
      ...text.matchAll(/^headgate_circuit_breaker_state\{limiter="(\w+)",.*state="(.+)"\} (\d)$/gm),
    ]
    expect(states.map(([, limiter, state, value]) => [limiter, state, value])).toEqual([
      ['_default', 'closed', '1'],
      ['_default', 'half-open', '0'],
      ['_default', 'open', '0'],
      ['broken', 'closed', '0'],
      ['broken', 'half-open', '0'],
      ['broken', 'open', '1'],
    ])
  })

  test('of two unnamed limiters on redis, the state is that of the worse one, until it is closed', async () => {
    const stateOf = async () => {
      const lines = await linesOf('headgate_circuit_breaker_state')
      return lines.map((line) => /limiter="_default".*state="(.+)"\} 1$/.exec(line)?.[1]).filter(Boolean)
    }
    let isDown = true
    const memory = memoryStore()
    const recovering = storeThat((charges) => {
      return isDown ? Promise.reject(new Error('refused')) : Promise.resolve(chargeStore(memory, charges))
    })
    const create = (store: Store) => {
      const limiter = createLimiter({ policy, key, store })
      limiter.events.on('storeError', () => {})
      return limiter
    }
    const [a, b] = [create(brokenStore()), create(recovering)]
    for (let i = 0; i < 30; i++) await Promise.all([a.charge('ada'), b.charge('ada')])
    isDown = false
    await until('b has recovered', async () => (await b.charge('ada')).source === 'store')
    expect(await stateOf()).toEqual(['open'])
    await a.close()
    expect(await stateOf()).toEqual(['closed'])
    await b.close()
    expect(await stateOf()).toEqual([])
  })

  test('stops, and removes its metrics', async () => {
    stop()
    await decideInManyWays()
    expect(await register.metrics()).not.toContain('headgate')
    stop = prometheusMetrics(client, { register }) // the names are free again
  })

  test('uses the registry of prom-client by default', async () => {
    const stopDefault = prometheusMetrics(client)
    await createLimiter({ policy, key }).charge('ada')
    expect(await client.register.metrics()).toContain('headgate_decisions_total{')
    stopDefault()
  })
})

test('openTelemetryMetrics records the same with attributes', async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const provider = new MeterProvider({ readers: [reader] })
  const stop = openTelemetryMetrics(provider.getMeter('headgate'))
  await decideInManyWays()
  await provider.forceFlush()
  const metrics = exporter.getMetrics().at(-1)?.scopeMetrics[0]?.metrics ?? []
  const byName = new Map(metrics.map((metric) => [metric.descriptor.name, metric]))
  expect([...byName.keys()].sort()).toEqual([
    'headgate.candidate.decisions',
    'headgate.circuit_breaker.state',
    'headgate.decisions',
    'headgate.limit.denials',
    'headgate.near_limit.decisions',
    'headgate.store.operation.duration',
  ])
  expect(byName.get('headgate.decisions')?.dataPoints).toContainEqual(
    expect.objectContaining({
      value: 5,
      attributes: {
        'headgate.limiter.name': 'api',
        'headgate.limit.name': 'api',
        'headgate.decision.outcome': 'allowed',
        'headgate.decision.source': 'store',
        'headgate.limiter.mode': 'enforce',
      },
    }),
  )
  expect(byName.get('headgate.store.operation.duration')?.descriptor).toMatchObject({ unit: 's' })
  expect(JSON.stringify(metrics)).not.toContain('ada')
  const values = valuesOf(exporter)
  stop()
  exporter.reset()
  await decideInManyWays()
  await provider.forceFlush()
  expect(valuesOf(exporter)).toEqual(values)
  await provider.shutdown()
})

/** Returns the counts of decisions that were exported last. */
function valuesOf(exporter: InMemoryMetricExporter): unknown[] {
  const metrics = exporter.getMetrics().at(-1)?.scopeMetrics[0]?.metrics ?? []
  const decisions = metrics.find(({ descriptor }) => descriptor.name === 'headgate.decisions')
  return decisions?.dataPoints.map(({ value }) => value) ?? []
}

test('a wrong client or meter is a TypeError with the fix', () => {
  expect(() => prometheusMetrics({} as never)).toThrow(
    "prometheusMetrics: client must be the module prom-client, got an object. Write prometheusMetrics(client) after import client from 'prom-client'.",
  )
  expect(() => openTelemetryMetrics(undefined as never)).toThrow(
    "openTelemetryMetrics: meter must be a meter, got undefined. Pass metrics.getMeter('headgate') from @opentelemetry/api.",
  )
})

const registry = new client.Registry()
const noKeys = 'Leave it out: only memory stores know how many keys they hold.'

test.each<[what: string, options: unknown, message: string]>([
  ['a bare registry', registry, 'options must be an object, got a registry. Write { register: registry }.'],
  ['registry', { registry }, 'there is no option "registry". Write register instead.'],
  [
    'the module as register',
    { register: {} },
    'register must be a registry of prom-client, got an object. Use new client.Registry(), or leave it out for client.register.',
  ],
])('wrong options of prometheusMetrics are a TypeError: %s', (_what, options, message) => {
  expect(() => prometheusMetrics(client, options as never)).toThrow(
    new TypeError(`prometheusMetrics: ${message}`),
  )
  expect(client.register.getSingleMetric('headgate_decisions_total')).toBeUndefined()
})

test('stores may have any name, also that of a member of a store', async () => {
  const register = new client.Registry()
  const stop = prometheusMetrics(client, { register, stores: { size: memoryStore(), charge: memoryStore() } })
  expect(await register.metrics()).toContain('headgate_store_keys{store="charge"} 0')
  stop()
})

test.each<[what: string, options: unknown, message: string]>([
  [
    'a remote store',
    { stores: { r: promisingStore() } },
    `stores.r must be a memory store, got an object. ${noKeys}`,
  ],
  ['no store', { stores: { r: null } }, `stores.r must be a memory store, got null. ${noKeys}`],
  [
    'a store without a name',
    { stores: memoryStore() },
    'stores must be an object with memory stores by name, got an object. Write stores: { api: store }.',
  ],
  [
    'an array',
    { stores: [memoryStore()] },
    'stores must be an object with memory stores by name, got an array of 1. Write stores: { api: store }.',
  ],
  ['store', { store: {} }, 'there is no option "store". Did you mean stores?'],
  ['null', null, 'options must be an object, got null. Known options: stores'],
])('wrong options of metrics are a TypeError: %s', (_what, options, message) => {
  const meter = new MeterProvider().getMeter('headgate')
  expect(() => openTelemetryMetrics(meter, options as never)).toThrow(`openTelemetryMetrics: ${message}`)
  expect(() => prometheusMetrics(client, options as never)).toThrow(`prometheusMetrics: ${message}`)
})
