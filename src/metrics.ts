export type { MetricsOptions } from './metrics/collect.js'
export type { Attributes } from './metrics/instruments.js'
export {
  type MeterOptions,
  type Observe,
  type OpenTelemetryMeter,
  openTelemetryMetrics,
} from './metrics/open-telemetry.js'
export {
  type Labels,
  type MetricConfiguration,
  type PromClient,
  type PrometheusOptions,
  prometheusMetrics,
} from './metrics/prometheus.js'
