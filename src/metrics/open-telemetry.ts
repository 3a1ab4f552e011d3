import { wrongKind } from '../util/validate.js'
import { collect } from './collect.js'
import { type Attributes, GAUGES, INSTRUMENTS } from './instruments.js'
import { type MetricsOptions, type NamedStores, readMetricsOptions } from './options.js'
import { replaceEarlier } from './replace-earlier.js'

/** A callback that a meter calls when metrics are collected. */
export type Observe = (result: { observe(value: number, attributes?: Attributes): void }) => void

/** The options of an instrument, which a meter takes after its name. */
export interface MeterOptions {
  description?: string
  unit?: string
  advice?: { explicitBucketBoundaries?: number[] }
}

/** A `Meter` of `@opentelemetry/api` 1.3 or newer: https://opentelemetry.io/docs/specs/otel/metrics/api */
export interface OpenTelemetryMeter {
  createCounter(name: string, options?: MeterOptions): { add(value: number, attributes?: Attributes): void }
  createHistogram(
    name: string,
    options?: MeterOptions,
  ): { record(value: number, attributes?: Attributes): void }
  createObservableGauge(
    name: string,
    options?: MeterOptions,
  ): { addCallback(observe: Observe): void; removeCallback(observe: Observe): void }
}

/**
 * Records metrics of all limiters in this process with OpenTelemetry. Returns a function that stops it. No
 * attribute is an identity. A second call with the same meter replaces the first, and keeps its stores. The
 * metrics are:
 *
 * - decisions, also those near a limit and those of candidates,
 * - the duration of store operations in seconds, and the size of batches,
 * - the states of circuit breakers, and the keys of the memory stores in `stores`.
 *
 * Throws a `TypeError` for anything but a meter, and for wrong options.
 *
 * @example
 * ```ts
 * import { metrics } from '@opentelemetry/api'
 * import { openTelemetryMetrics } from 'headgate/metrics'
 *
 * const stop = openTelemetryMetrics(metrics.getMeter('headgate'))
 * ```
 */
export function openTelemetryMetrics(meter: OpenTelemetryMeter, options: MetricsOptions = {}): () => void {
  if (typeof meter?.createObservableGauge !== 'function') {
    const fix = "Pass metrics.getMeter('headgate') from @opentelemetry/api."
    throw wrongKind('openTelemetryMetrics', 'meter', 'a meter', meter, fix)
  }
  const { stores } = readMetricsOptions('openTelemetryMetrics', options)
  return replaceEarlier(meter, stores, (all) => record(meter, all))
}

function record(meter: OpenTelemetryMeter, stores: NamedStores): () => void {
  const records = new Map(
    INSTRUMENTS.map((instrument) => {
      const { kind, name, description, unit, boundaries } = instrument
      if (kind === 'counter') {
        const counter = meter.createCounter(name, { description, unit })
        return [instrument, (value: number, attributes: Attributes) => counter.add(value, attributes)]
      }
      const advice = { explicitBucketBoundaries: [...(boundaries ?? [])] }
      const histogram = meter.createHistogram(name, { description, unit, advice })
      return [instrument, (value: number, attributes: Attributes) => histogram.record(value, attributes)]
    }),
  )
  const collection = collect((instrument, value, attributes) => {
    records.get(instrument)?.(value, attributes)
  }, stores)
  const stops = GAUGES.map((definition) => {
    const { name, description, unit } = definition
    const gauge = meter.createObservableGauge(name, { description, unit })
    const observe: Observe = (result) => {
      for (const [value, attributes] of collection.read(definition)) result.observe(value, attributes)
    }
    gauge.addCallback(observe)
    return () => gauge.removeCallback(observe)
  })
  return () => {
    collection.stop()
    for (const stop of stops) stop()
  }
}
