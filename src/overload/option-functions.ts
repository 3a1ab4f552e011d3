import { callback } from '../options/option-table.js'
import { ignoreRejection, isPromise } from '../util/maybe-promise.js'
import { choice, wrongKind, wrongOption, wrongUse } from '../util/validate.js'
import { PRIORITIES, type Priority } from './cohorts.js'

export const OWNER = 'overloadGuard'

const SYNC_FIX = 'Look it up in middleware before the guard, and read it from the request.'
/** The function for weights gets no request. */
const WEIGHT_FIX = 'Load the weights in advance, and read them from a Map.'

/**
 * Reads a function option that must not return a promise. An async function is an error at start-up. Any
 * other function is an error once it returns a promise.
 */
export function syncFunction<F>(owner: string, option: string, value: unknown): F | undefined {
  if (Object.prototype.toString.call(value) === '[object AsyncFunction]')
    throw wrongUse(owner, `${option} must not be an async function`, syncFix(option))
  return callback<F>(owner, option, value)
}

/** A weight beyond these leaves its tenant, or all others, almost no share. */
const MIN_WEIGHT = 0.001
const MAX_WEIGHT = 1000

/** Returns the function that weighs tenants. It throws a `TypeError` for a wrong weight. */
export function weigher(weight: ((tenant: string) => number) | undefined) {
  if (weight === undefined) return () => 1
  return (tenant: string): number => {
    const given: unknown = weight(tenant)
    if (typeof given === 'number' && given >= MIN_WEIGHT && given <= MAX_WEIGHT) return given
    if (isPromise(given)) throw notSynchronous('weight', given)
    const must = `a number from ${MIN_WEIGHT} to ${MAX_WEIGHT}`
    throw wrongOption(OWNER, 'the result of weight', must, given, 'Return 1 for usual tenants.')
  }
}

const priorityOf = /* @__PURE__ */ choice<Priority>('bulk', 'default', 'critical')

/**
 * Returns the index of the class of a request. Throws what the function throws, and a `TypeError` for a
 * result that is not a class.
 */
export function readPriority<Req>(priority: ((req: Req) => unknown) | undefined, req: Req): number {
  const given = priority?.(req) ?? 'default'
  const index = PRIORITIES.indexOf(given as Priority)
  if (index >= 0) return index
  if (isPromise(given)) throw notSynchronous('priority', given)
  return PRIORITIES.indexOf(priorityOf(OWNER, 'the result of priority', given)) // throws
}

/**
 * Returns the tenant of a request. Throws what the function throws, and a `TypeError` for a wrong result.
 */
export function readTenant<Req>(tenant: ((req: Req) => unknown) | undefined, req: Req): string | undefined {
  const given = tenant?.(req) ?? undefined
  if (given === undefined) return undefined
  if (isTenant(given)) return given
  if (isPromise(given)) throw notSynchronous('tenant', given)
  const must = `a string of at most ${MAX_TENANT_LENGTH} characters, or undefined`
  throw wrongKind(OWNER, 'the result of tenant', must, given, 'Return the name of the tenant, as String(id).')
}

export const MAX_TENANT_LENGTH = 256

/** Whether a value is the name of a tenant. */
export const isTenant = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_TENANT_LENGTH

/** Returns the error for a promise, whose rejection must not end the process. */
function notSynchronous(option: string, promise: unknown): TypeError {
  ignoreRejection(promise)
  return wrongUse(OWNER, `${option} must not return a promise`, syncFix(option))
}

const syncFix = (option: string): string => (option === 'weight' ? WEIGHT_FIX : SYNC_FIX)
