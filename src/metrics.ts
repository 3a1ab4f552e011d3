export type { Attributes } from './metrics/instruments.js'
export {
  type MeterOptions,
  type Observe,
  type OpenTelemetryMeter,
  openTelemetryMetrics,
} from './metrics/open-telemetry.js'
export type { MetricsOptions, NamedStores, PrometheusRegistry } from './metrics/options.js'
export {
  type Labels,
  type MetricConfiguration,
  type PromClient,
  type PrometheusOptions,
  prometheusMetrics,
} from './metrics/prometheus.js'
