import type { RateLimitOptions, RequestOptions } from '../../http/options.js'
import type { LoginGuardOptions, LoginOptions } from '../../login/options.js'
import type { ServerTypes } from '../../util/framework-types.js'
import type { Exchange } from './exchange.js'
import type { FetchTypes } from './options.js'

/** How limiters themselves call callbacks: with the exchange in place of the response. */
type ExchangeTypes<Subject> = ServerTypes<Subject, Exchange>

/** Returns the options of `rateLimit`, with callbacks that find the response in its exchange. */
export function exchangeOptions<Subject>(
  options: RateLimitOptions<FetchTypes<Subject>>,
): RequestOptions<ExchangeTypes<Subject>> {
  if (readsNoResponse(options)) return options
  const { skip, count, actualCost, ...others } = options
  return {
    ...others,
    ...(skip !== undefined && { skip: withSubject(skip) }),
    ...(actualCost !== undefined && { actualCost: withFinished(actualCost) }),
    ...(count !== undefined && { count: typeof count === 'function' ? withResponse(count) : count }),
  }
}

/** Returns the options of `loginGuard`, with callbacks that find the response in its exchange. */
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

/** The callbacks that get a response, or in other frameworks do. */
interface Callbacks {
  readonly skip?: unknown
  readonly count?: unknown
  readonly succeeded?: unknown
  readonly actualCost?: unknown
}

/**
 * Returns whether options are fine as they are. They may also be none at all, or something else in their
 * place, which a copy would hide from the error about it.
 */
function readsNoResponse<Options extends Callbacks>(
  options: Options,
): options is Options & { readonly [K in keyof Callbacks]?: never } {
  const { skip, count, succeeded, actualCost } = options ?? {}
  return [skip, count, succeeded, actualCost].every((callback) => callback === undefined)
}

/** Returns `skip` as it is called by the subject alone. What is no function is left to the error about it. */
function withSubject<Subject, Result>(skip: (subject: Subject) => Result): (subject: Subject) => Result {
  return typeof skip === 'function' ? (subject) => skip(subject) : skip
}

function withResponse<Subject, Result>(
  test: (subject: Subject, response: Response) => Result,
): (subject: Subject, exchange: Exchange) => Result | false {
  if (typeof test !== 'function') return test
  return (subject, { response }) => response !== undefined && test(subject, response)
}

function withFinished<Subject, Result>(
  use: (subject: Subject, response: Response) => Result,
): (subject: Subject, exchange: Exchange) => Result {
  if (typeof use !== 'function') return use
  return (subject, { response }) => {
    if (response === undefined) throw new Error('the exchange has no response')
    return use(subject, response)
  }
}
