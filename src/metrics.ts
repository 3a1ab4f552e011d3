/**
 * Metrics of limiters for Prometheus and OpenTelemetry.
 *
 * @module
 */

export { openTelemetryMetrics } from './metrics/open-telemetry.js'
export { prometheusMetrics } from './metrics/prometheus.js'
