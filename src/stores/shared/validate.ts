import { show, wrongOption } from '../../util/validate.js'
import { isObject } from '../../util/values.js'
import type { Batching, Store } from '../store.js'

/** A value from outside: any of its fields may be missing or of another type. */
export type Unchecked<T> = { readonly [Name in keyof T]?: unknown }

/** Returns whether a value has what a store needs. */
export function isStore(value: unknown): value is Store {
  if (!isObject(value)) return false // a function has a name and `apply`
  const { name, apply }: Unchecked<Store> = value
  return typeof name === 'string' && typeof apply === 'function'
}

/** Throws a `TypeError` for a batching by which operations would never leave. */
export function checkBatching(owner: string, batching: unknown): asserts batching is Batching {
  if (!isObject(batching)) throw new TypeError(`${owner}: batching must be an object, got ${show(batching)}.`)
  const { maxKeys, maxInFlight, maxPending, stallTimeoutMs }: Unchecked<Batching> = batching
  for (const [name, value] of Object.entries({ maxKeys, maxInFlight, maxPending, stallTimeoutMs })) {
    const isOptional = name === 'maxPending' || name === 'stallTimeoutMs'
    if (isOptional && value === undefined) continue
    const isTime = name === 'stallTimeoutMs' // a timer takes no Infinity
    const isUnbounded = value === Number.POSITIVE_INFINITY && !isTime
    if (isUnbounded || (typeof value === 'number' && Number.isInteger(value) && value >= 1)) continue
    const must = `a whole number of at least 1${isTime ? '' : ', or Infinity'}`
    throw new TypeError(`${owner}: batching.${name} must be ${must}, got ${show(value)}.`)
  }
}

/** Throws a `TypeError` for a time-out that a limiter cannot have. */
export function checkDefaultTimeout(owner: string, timeoutMs: unknown): asserts timeoutMs is number {
  if (Number.isInteger(timeoutMs) && Number(timeoutMs) >= 1 && Number(timeoutMs) <= 60_000) return
  const must = 'a whole number of milliseconds from 1 to 60000'
  throw wrongOption(owner, 'defaultTimeoutMs', must, timeoutMs, 'Write defaultTimeoutMs: 1000.')
}

/** Throws a `TypeError` for a time that is not finite, at which a policy would allow everything. */
export function checkTime(owner: string, nowMs: unknown): void {
  if (Number.isFinite(nowMs)) return
  const must = 'a finite number of milliseconds since the Unix epoch'
  throw new TypeError(`${owner}: the time must be ${must}, got ${show(nowMs)}.`)
}
