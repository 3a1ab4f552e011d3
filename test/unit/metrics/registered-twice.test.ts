import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { createLimiter, fixedWindow, memoryStore } from 'headgate'
import { openTelemetryMetrics, prometheusMetrics } from 'headgate/metrics'
import client from 'prom-client'

const limiter = createLimiter({
  name: 'api',
  policy: fixedWindow({ limit: 5, window: '1h' }),
  key: String,
  store: memoryStore(),
})

test('metrics that are registered twice with prom-client count each decision once', async () => {
  const register = new client.Registry()
  const stopFirst = prometheusMetrics(client, { register })
  const stop = prometheusMetrics(client, { register })
  await limiter.charge('ada')
  stopFirst() // does nothing any more
  expect(await register.metrics()).toMatch(/^headgate_decisions_total\{.*limiter="api".*\} 1$/m)
  stop()
  expect(await register.metrics()).not.toContain('headgate')
})

test('the stores of all calls for one registry have metrics, and a later one of the same name wins', async () => {
  const register = new client.Registry()
  const storeOf = (size: number) => ({ ...memoryStore(), size })
  prometheusMetrics(client, { register, stores: { a: storeOf(1), b: storeOf(2) } })
  prometheusMetrics(client, { register })
  const stop = prometheusMetrics(client, { register, stores: { b: storeOf(3), c: storeOf(4) } })
  const keys = [...(await register.metrics()).matchAll(/^headgate_store_keys\{.*"(\w)"\} (\d)$/gm)]
  expect(keys.map(([, name, size]) => `${name} ${size}`)).toEqual(['a 1', 'b 3', 'c 4'])
  stop()
  prometheusMetrics(client, { register })()
  expect(await register.metrics()).not.toContain('headgate')
})

test('metrics that are registered twice with a meter of OpenTelemetry count each decision once', async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const provider = new MeterProvider({ readers: [reader] })
  const [first, second] = [memoryStore(), memoryStore()]
  openTelemetryMetrics(provider.getMeter('headgate'), { stores: { first } })
  const stop = openTelemetryMetrics(provider.getMeter('headgate'), { stores: { second } })
  await limiter.charge('ada')
  await reader.forceFlush()
  const metrics = exporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((each) => each.metrics))
  const decisions = metrics.find(({ descriptor }) => descriptor.name === 'headgate.decisions')
  expect(decisions?.dataPoints.map(({ value }) => value)).toEqual([1])
  const keys = metrics.find(({ descriptor }) => descriptor.name === 'headgate.store.keys')
  expect(keys?.dataPoints).toHaveLength(2)
  stop()
  await provider.shutdown()
})
