// Metrics go to OpenTelemetry and to Prometheus, as modules and as a registry.
import { metrics } from '@opentelemetry/api'
import { memoryStore } from 'headgate'
import { openTelemetryMetrics, prometheusMetrics } from 'headgate/metrics'
import client from 'prom-client'

const stores = { sessions: memoryStore() }
const register = new client.Registry()

export const stops: (() => void)[] = [
  openTelemetryMetrics(metrics.getMeter('headgate'), { stores }),
  prometheusMetrics(client),
  prometheusMetrics(client, { register, stores }),
]
