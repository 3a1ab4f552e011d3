import type { ResponseCost } from '../../http/cost-source.js'
import type { RateLimitOptions, RequestOptions } from '../../http/options.js'
import type { LoginGuardOptions, LoginOptions } from '../../login/options.js'
import type { OverloadGuardOptions, OverloadOptions } from '../../overload/options.js'
import type { ServerTypes } from '../../util/framework-types.js'
import type { Exchange } from './exchange.js'
import { CLIENT_GONE } from './limit.js'
import type { FetchTypes } from './options.js'

/** The types with which limiters call callbacks: the exchange takes the place of the response. */
type ExchangeTypes<Subject> = ServerTypes<Subject, Exchange>

/** Returns the options of `rateLimit`. Their callbacks take the response from the exchange. */
export function exchangeOptions<Subject>(
  options: RateLimitOptions<FetchTypes<Subject>>,
): RequestOptions<ExchangeTypes<Subject>> {
  if (readsNoResponse(options)) return options
  const { skip, count, actualCost, ...others } = options
  return {
    ...others,
    ...(skip !== undefined && { skip: withSubject(skip) }),
    // Its function gets the response from the writer.
    ...(actualCost !== undefined && { actualCost: actualCost as ResponseCost<Subject, unknown> }),
    ...(count !== undefined && { count: typeof count === 'function' ? withResponse(count) : count }),
  }
}

/** Returns the options of `loginGuard`. Their callbacks take the response from the exchange. */
export function exchangeGuardOptions<Subject>(
  options: LoginGuardOptions<FetchTypes<Subject>>,
): LoginOptions<ExchangeTypes<Subject>> {
  if (readsNoResponse(options)) return options
  const { skip, succeeded, ...others } = options
  return {
    ...others,
    ...(skip !== undefined && { skip: withSubject(skip) }),
    ...(succeeded !== undefined && { succeeded: withResponse(succeeded) }),
  }
}

/** Returns the options of `overloadGuard`. `routeClass` takes the response from the exchange. */
export function exchangeOverloadOptions<Subject>(
  options: OverloadGuardOptions<FetchTypes<Subject>>,
): OverloadOptions<ExchangeTypes<Subject>> {
  if (readsNoResponse(options)) return options
  const { skip, routeClass, ...others } = options
  const classOf = (subject: Subject, { response }: Exchange) =>
    routeClass?.(subject, response ?? new Response(null, CLIENT_GONE)) ?? ''
  return {
    ...others,
    ...(skip !== undefined && { skip: withSubject(skip) }),
    ...(routeClass !== undefined && {
      routeClass: typeof routeClass === 'function' ? classOf : routeClass,
    }),
  }
}

/** The callbacks that get a response, here or in other frameworks. */
interface Callbacks {
  readonly skip?: unknown
  readonly count?: unknown
  readonly succeeded?: unknown
  readonly actualCost?: unknown
  readonly routeClass?: unknown
}

/**
 * Returns whether the options need no copy. They may be missing or not an object: a copy would hide that from
 * the check that reports it.
 */
function readsNoResponse<Options extends Callbacks>(
  options: Options,
): options is Options & { readonly [K in keyof Callbacks]?: never } {
  const { skip, count, succeeded, actualCost, routeClass } = options ?? {}
  return [skip, count, succeeded, actualCost, routeClass].every((callback) => callback === undefined)
}

/**
 * Returns a `skip` that is called with the subject alone. Returns other values unchanged, for a check to
 * report.
 */
function withSubject<Subject, Result>(skip: (subject: Subject) => Result): (subject: Subject) => Result {
  return typeof skip === 'function' ? (subject) => skip(subject) : skip
}

function withResponse<Subject, Result>(
  test: (subject: Subject, response: Response) => Result,
): (subject: Subject, exchange: Exchange) => Result | false {
  if (typeof test !== 'function') return test
  return (subject, { response }) => response !== undefined && test(subject, response)
}
