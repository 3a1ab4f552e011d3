import { wrongKind } from '../util/validate.js'
import { collect } from './collect.js'
import { type Attributes, GAUGES, type Gauge, INSTRUMENTS, type Instrument } from './instruments.js'
import {
  type MetricsOptions,
  type NamedStores,
  type PrometheusRegistry,
  readPrometheusOptions,
} from './options.js'
import { replaceEarlier } from './replace-earlier.js'

/** The labels of a measurement, with their values. */
export type Labels = Record<string, string>

/** The options of a metric in `prom-client`. */
export interface MetricConfiguration<Registry> {
  name: string
  help: string
  labelNames: string[]
  registers: Registry[]
}

/** The parts of `prom-client` 14 or newer that headgate uses: https://github.com/siimon/prom-client */
export interface PromClient<Registry = unknown> {
  readonly register: Registry
  readonly Counter: new (
    configuration: MetricConfiguration<Registry>,
  ) => { inc(labels: Labels, value?: number): void }
  readonly Histogram: new (
    configuration: MetricConfiguration<Registry> & { buckets?: number[] },
  ) => { observe(labels: Labels, value: number): void }
  readonly Gauge: new (
    configuration: MetricConfiguration<Registry> & { collect?: () => void },
  ) => { set(labels: Labels, value: number): void; reset(): void }
}

/** Options of `prometheusMetrics`. */
export interface PrometheusOptions<Registry> extends MetricsOptions {
  /** The registry for the metrics. Default: the `register` of `prom-client`. */
  readonly register?: Registry & PrometheusRegistry
}

/**
 * Records metrics of all limiters in this process with Prometheus, as `openTelemetryMetrics` does. The
 * metrics have names such as `headgate_decisions_total`. `client` is the module `prom-client`. Returns a
 * function that stops it and removes the metrics. A second call for the same registry replaces the first, and
 * keeps its stores.
 *
 * Throws a `TypeError` for another module, and for wrong options.
 *
 * @example
 * ```ts
 * import { prometheusMetrics } from 'headgate/metrics'
 * import client from 'prom-client'
 *
 * const register = new client.Registry() // without it, metrics go to the default registry
 * prometheusMetrics(client, { register })
 * export const metrics = () => register.metrics() // the body of GET /metrics
 * ```
 */
export function prometheusMetrics<Registry extends PrometheusRegistry>(
  client: PromClient<Registry>,
  options: PrometheusOptions<Registry> = {},
): () => void {
  if (typeof client?.Counter !== 'function' || typeof client.Gauge !== 'function') {
    const fix = "Write prometheusMetrics(client) after import client from 'prom-client'."
    throw wrongKind('prometheusMetrics', 'client', 'the module prom-client', client, fix)
  }
  const settings = readPrometheusOptions<Registry>('prometheusMetrics', options)
  const { stores, register = client.register } = settings
  return replaceEarlier(register, stores, (all) => record(client, register, all))
}

function record<Registry extends PrometheusRegistry>(
  client: PromClient<Registry>,
  register: Registry,
  stores: NamedStores,
): () => void {
  const configure = (definition: Instrument | Gauge): MetricConfiguration<Registry> => ({
    name: promName(definition),
    help: definition.description,
    labelNames: definition.attributes.map(promLabel),
    registers: [register],
  })
  const records = new Map(
    INSTRUMENTS.map((instrument) => {
      if (instrument.kind === 'counter') {
        const counter = new client.Counter(configure(instrument))
        return [instrument, (value: number, labels: Labels) => counter.inc(labels, value)]
      }
      const buckets = [...(instrument.boundaries ?? [])]
      const histogram = new client.Histogram({ ...configure(instrument), buckets })
      return [instrument, (value: number, labels: Labels) => histogram.observe(labels, value)]
    }),
  )
  const collection = collect((instrument, value, attributes) => {
    records.get(instrument)?.(value, promLabels(attributes))
  }, stores)
  for (const definition of GAUGES) {
    const gauge = new client.Gauge({
      ...configure(definition),
      collect() {
        gauge.reset()
        for (const [value, attributes] of collection.read(definition))
          gauge.set(promLabels(attributes), value)
      },
    })
  }
  return () => {
    collection.stop()
    for (const definition of [...INSTRUMENTS, ...GAUGES]) register.removeSingleMetric(promName(definition))
  }
}

const UNITS: Readonly<Record<string, string>> = { s: '_seconds' }
const ENDINGS = { counter: '_total', histogram: '', gauge: '' } as const

/** Returns a name as Prometheus spells it, with the unit and `_total`. */
function promName({ kind, name, unit }: Instrument | Gauge): string {
  return name.replaceAll('.', '_') + (UNITS[unit] ?? '') + ENDINGS[kind]
}

/** Returns a label as Prometheus spells it: `headgate.limiter.name` is `limiter`. */
function promLabel(attribute: string): string {
  const [, own = ''] = /^(?:headgate\.)?(.*?)(?:\.name)?$/.exec(attribute) ?? []
  return own.replace(/^(?:decision|limiter|store|circuit_breaker)\./, '').replaceAll('.', '_')
}

function promLabels(attributes: Attributes): Labels {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [promLabel(name), value]))
}
