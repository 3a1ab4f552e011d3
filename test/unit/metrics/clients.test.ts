import { channel } from 'node:diagnostics_channel'
import { createLimiter, fixedWindow, memoryStore } from 'headgate'
import { openTelemetryMetrics, prometheusMetrics } from 'headgate/metrics'
import { storeThat } from '../../support/fault-stores.js'

/** A measurement that a client was given. */
interface Measured {
  readonly metric: string
  readonly value: number
  readonly labels: Readonly<Record<string, string>>
}

/** A client of metrics that keeps what it is asked to create, and what is measured. */
interface FakeClient {
  readonly created: Readonly<Record<string, object>>
  readonly measured: Measured[]
  /** Has the gauges read their values. */
  collect(): readonly Measured[]
  stop(): void
}

function fakePrometheus(options: object = {}): FakeClient {
  const created: Record<string, object> = {}
  const measured: Measured[] = []
  const gauges: (() => void)[] = []
  const kind = (type: string, record: string) =>
    class {
      constructor({
        registers,
        ...configuration
      }: { name: string; registers: unknown[]; collect?: () => void }) {
        const { collect, ...shown } = configuration
        created[configuration.name] = { type, ...shown }
        if (collect) gauges.push(() => collect.call(this))
        const add = (labels: Measured['labels'], value: number) =>
          measured.push({ metric: configuration.name, value, labels })
        Object.assign(this, { [record]: add, reset: () => measured.splice(0) })
      }
    }
  const register = { removeSingleMetric: (name: string) => void delete created[name] }
  const stop = prometheusMetrics(
    {
      register,
      Counter: kind('counter', 'inc'),
      Histogram: kind('histogram', 'observe'),
      Gauge: kind('gauge', 'set'),
    } as never,
    options,
  )
  const collect = () =>
    gauges.flatMap((read) => {
      read()
      return measured.splice(0)
    })
  return { created, measured, collect, stop }
}

function fakeOpenTelemetry(options: object = {}): FakeClient {
  const created: Record<string, object> = {}
  const measured: Measured[] = []
  type Observe = (result: { observe(value: number, labels: Measured['labels']): void }) => void
  const gauges = new Map<string, Set<Observe>>()
  const create = (type: string, record: string) => (name: string, own: object) => {
    created[name] = { type, ...own }
    return {
      [record]: (value: number, labels: Measured['labels']) => measured.push({ metric: name, value, labels }),
    }
  }
  const createObservableGauge = (name: string, own: object) => {
    created[name] = { type: 'gauge', ...own }
    const callbacks = new Set<Observe>()
    gauges.set(name, callbacks)
    return {
      addCallback: (observe: Observe) => callbacks.add(observe),
      removeCallback: (observe: Observe) => callbacks.delete(observe),
    }
  }
  const meter = {
    createCounter: create('counter', 'add'),
    createHistogram: create('histogram', 'record'),
    createObservableGauge,
  }
  const stop = openTelemetryMetrics(meter as never, options)
  const collect = () => {
    const read: Measured[] = []
    for (const [metric, callbacks] of gauges)
      for (const observe of callbacks)
        observe({ observe: (value, labels) => void read.push({ metric, value, labels }) })
    return read
  }
  return { created, measured, collect, stop }
}

const ofOpenTelemetry = ([limiter, store]: readonly [string, string]) => ({
  'headgate.limiter.name': limiter,
  'headgate.store.name': store,
})
const ofPrometheus = ([limiter, store]: readonly [string, string]) => ({ limiter, store })

const CLIENTS = [
  {
    name: 'prom-client',
    create: fakePrometheus,
    nameOf: (name: string, unit = '') => `headgate_${name.replaceAll('.', '_')}${unit}`,
    labels: ofPrometheus,
    key: (name: string) => name.replaceAll('.', '_'),
  },
  {
    name: 'OpenTelemetry',
    create: fakeOpenTelemetry,
    nameOf: (name: string) => `headgate.${name}`,
    labels: ofOpenTelemetry,
    key: (name: string) => (name === 'operation' ? 'headgate.store.operation' : name),
  },
]

const policy = fixedWindow({ limit: 5, window: '1h' })
const key = (id: string) => id
const SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]

describe.each(CLIENTS)('$name', ({ create, nameOf, labels, key: labelOf }) => {
  let client: FakeClient

  beforeEach(() => {
    client = create({ stores: { sessions: { size: 7 } } })
  })
  afterEach(() => client.stop())

  const measuredOf = (metric: string) => client.measured.filter((each) => each.metric === metric)

  test('measures the batches of stores', () => {
    channel('headgate:store').publish({ type: 'batch', store: 'redis', size: 12, durationMs: 1 })
    const [measured, ...others] = client.measured
    expect(others).toEqual([])
    expect(measured).toMatchObject({ metric: nameOf('store.batch.size'), value: 12 })
    expect(Object.values(measured?.labels ?? {})).toEqual(['redis'])
  })

  test.each<[string, unknown, string | undefined]>([
    ['the code of what caused it', Object.assign(new Error(), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    ['its name, where the code is a number', Object.assign(new RangeError(), { code: 42 }), 'RangeError'],
    ['_OTHER, where neither is a text', { code: 42 }, '_OTHER'],
  ])('labels a call that failed by %s', async (_, cause, expected) => {
    const store = storeThat(() => Promise.reject(cause))
    const limiter = createLimiter({ name: 'api', policy, key, store })
    limiter.events.on('storeError', () => undefined)
    await limiter.charge('ada')
    const [{ value, labels: found } = { value: -1, labels: {} }] = measuredOf(
      nameOf('store.operation.duration', '_seconds'),
    )
    expect(found).toEqual({
      ...labels(['api', 'faulty']),
      [labelOf('operation')]: 'charge',
      [labelOf('error.type')]: expected,
    })
    expect(value).toBeGreaterThanOrEqual(0)
    expect(value).toBeLessThan(30)
  })

  test('measures a call in seconds, and labels none that succeeded by an error', () => {
    const call = { type: 'call', instance: {}, limiter: undefined, store: 'redis', operation: 'refund' }
    channel('headgate:store').publish({ ...call, durationMs: 250 })
    expect(client.measured).toEqual([
      {
        metric: nameOf('store.operation.duration', '_seconds'),
        value: 0.25,
        labels: { ...labels(['_default', 'redis']), [labelOf('operation')]: 'refund' },
      },
    ])
  })

  test('creates histograms with buckets for milliseconds, and for batches', () => {
    const found = JSON.stringify(client.created[nameOf('store.operation.duration', '_seconds')])
    expect(found).toContain(JSON.stringify(SECONDS))
    expect(JSON.stringify(client.created[nameOf('store.batch.size')])).toContain('[1,2,5,10,20,50,100,200,')
    const types = Object.entries(client.created).map(([name, each]) => [
      name,
      (each as { type: string }).type,
    ])
    expect(Object.fromEntries(types)).toMatchObject({
      [nameOf('decisions', '_total')]: 'counter',
      [nameOf('store.operation.duration', '_seconds')]: 'histogram',
      [nameOf('store.keys')]: 'gauge',
    })
  })

  test('reads the keys of memory stores, and the worst state of breakers of one name, until it stops', () => {
    const publish = (message: object) => channel('headgate:store').publish({ store: 'redis', ...message })
    const [a, b, other] = [{}, {}, {}]
    publish({ type: 'state', instance: a, limiter: 'api', state: 'half-open' })
    publish({ type: 'state', instance: b, limiter: 'api', state: 'open' })
    publish({ type: 'state', instance: b, limiter: 'api', state: 'closed' })
    publish({ type: 'state', instance: other, limiter: 'api', store: 'mysql', state: 'open' })
    publish({ type: 'call', instance: other, limiter: 'api', store: 'mysql', durationMs: 1 })
    const states = () =>
      client
        .collect()
        .filter(({ metric, value }) => metric === nameOf('circuit_breaker.state') && value === 1)
        .map(({ labels }) => Object.values(labels))
    expect(states()).toEqual([
      ['api', 'redis', 'half-open'],
      ['api', 'mysql', 'open'],
    ])
    publish({ type: 'close', instance: a })
    expect(states()).toEqual([
      ['api', 'redis', 'closed'],
      ['api', 'mysql', 'open'],
    ])
    const keys = client.collect().filter(({ metric }) => metric === nameOf('store.keys'))
    expect(keys.map(({ value, labels }) => [value, Object.values(labels)])).toEqual([[7, ['sessions']]])
  })

  test('is given nothing more once it has stopped', async () => {
    client.stop()
    const read = client.collect()
    await createLimiter({ name: 'api', policy, key, store: memoryStore() }).charge('ada')
    channel('headgate:store').publish({ type: 'batch', store: 'redis', size: 12, durationMs: 1 })
    expect(client.measured).toEqual([])
    if (create === fakeOpenTelemetry) expect(read).toEqual([])
    else expect(client.created).toEqual({})
    client = create()
  })
})

test('metrics of OpenTelemetry have descriptions and units, and those of Prometheus help and labels', () => {
  const [openTelemetry, prometheus] = [fakeOpenTelemetry(), fakePrometheus()]
  expect(openTelemetry.created['headgate.decisions']).toMatchObject({
    description: 'Decisions of limiters, by the limit that decided.',
    unit: '{decision}',
  })
  expect(openTelemetry.created['headgate.store.keys']).toMatchObject({
    description: 'Keys that a memory store holds.',
    unit: '{key}',
  })
  expect(prometheus.created.headgate_decisions_total).toMatchObject({
    help: 'Decisions of limiters, by the limit that decided.',
    labelNames: ['limiter', 'limit', 'outcome', 'source', 'mode'],
  })
  expect(prometheus.created.headgate_circuit_breaker_state).toMatchObject({
    labelNames: ['limiter', 'store', 'state'],
  })
  expect(Object.keys(prometheus.created)).toHaveLength(Object.keys(openTelemetry.created).length)
  openTelemetry.stop()
  prometheus.stop()
})

test.each([
  ['nothing', undefined],
  ['no counters', { Gauge: class {} }],
  ['no gauges', { Counter: class {} }],
])('a client that has %s is a TypeError', (_, client) => {
  expect(() => prometheusMetrics(client as never)).toThrow(
    'prometheusMetrics: client must be the module prom-client',
  )
})
