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

test('metrics that are registered twice with a meter of OpenTelemetry count each decision once', async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const provider = new MeterProvider({ readers: [reader] })
  openTelemetryMetrics(provider.getMeter('headgate'))
  const stop = openTelemetryMetrics(provider.getMeter('headgate'))
  await limiter.charge('ada')
  await reader.forceFlush()
  const metrics = exporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((each) => each.metrics))
  const decisions = metrics.find(({ descriptor }) => descriptor.name === 'headgate.decisions')
  expect(decisions?.dataPoints.map(({ value }) => value)).toEqual([1])
  stop()
  await provider.shutdown()
})
