import { optional, readOptions, withDefault } from '../options/option-table.js'
import type { MemoryStore } from '../stores/memory/contract.js'
import { wrongKind } from '../util/validate.js'
import { fieldsOf } from '../util/values.js'

/** Memory stores by the names that their labels have. */
export type NamedStores = Readonly<Record<string, Pick<MemoryStore, 'size'>>>

/** Options of `openTelemetryMetrics`. */
export interface MetricsOptions {
  /** Memory stores whose number of keys is a metric, each under the name for its label. */
  readonly stores?: NamedStores
}

/** A registry of `prom-client`. */
export interface PrometheusRegistry {
  removeSingleMetric(name: string): void
}

const ROWS = { stores: withDefault({}, readStores) }

/** Reads the options of metrics. Throws a `TypeError` with a fix. */
export function readMetricsOptions(owner: string, options: object) {
  return readOptions(owner, options, { rows: ROWS })
}

/** Reads the options of metrics of Prometheus. Throws a `TypeError` with a fix, also for a bare registry. */
export function readPrometheusOptions<Registry>(owner: string, options: object) {
  if (isRegistry(options))
    throw new TypeError(`${owner}: options must be an object, got a registry. Write { register: registry }.`)
  const register = optional((...given) => readRegistry<Registry>(...given))
  return readOptions(owner, options, { rows: { ...ROWS, register }, fixes: FIXES })
}

const FIXES = { registry: 'register', registers: 'Write register, which takes one registry.' }

function isRegistry(value: unknown): boolean {
  return typeof fieldsOf(value).removeSingleMetric === 'function'
}

function readRegistry<Registry>(owner: string, option: string, registry: unknown): Registry {
  if (isRegistry(registry)) return registry as Registry
  const fix = 'Use new client.Registry(), or leave it out for client.register.'
  throw wrongKind(owner, option, 'a registry of prom-client', registry, fix)
}

function readStores(owner: string, option: string, stores: unknown): NamedStores {
  if (typeof stores !== 'object' || stores === null || isStore(stores))
    throw wrongKind(
      owner,
      option,
      'an object with memory stores by name',
      stores,
      'Write stores: { api: store }.',
    )
  for (const [name, store] of Object.entries(stores)) {
    if (typeof store?.size === 'number') continue
    const fix = 'Leave it out: only memory stores know how many keys they hold.'
    throw wrongKind(owner, `${option}.${name}`, 'a memory store', store, fix)
  }
  return stores as NamedStores
}

function isStore(value: object): boolean {
  const { size, apply } = fieldsOf(value)
  return Array.isArray(value) || typeof size === 'number' || typeof apply === 'function'
}
