import { checkOptions, inheritOptions } from '../../http/inherited-options.js'
import { limiterName } from '../../http/limiter-name.js'
import type { RequestOptions } from '../../http/options.js'
import type { LimitWithWindow } from '../../limiter/options.js'
import { callback } from '../../options/option-table.js'
import type { ServerTypes } from '../../util/framework-types.js'
import { wrongOption } from '../../util/validate.js'
import { fieldsOf, isObject } from '../../util/values.js'
import type { RateLimitException } from './exception.js'
import type { Decoration } from './metadata.js'
import type { NestResponse } from './response-writer.js'
import type { ExecutionContext, NestRequest } from './types.js'

/**
 * The options of one limiter in Nest. All functions may be async. If one throws, the error goes to the
 * exception filters. `count` and `actualCost` run after the response, so their errors are emitted as
 * `refundFailed`.
 */
export type NestLimitOptions<Req = NestRequest, Res = unknown> = RequestOptions<ServerTypes<Req, Res>> &
  LimitWithWindow &
  ExceptionOptions

/** The option that replaces `onDenied` in Nest. */
export interface ExceptionOptions {
  /**
   * Returns the exception to throw for a denied request, in place of a `RateLimitException`, or a promise of
   * it. Return Nest's `HttpException` if your filters catch only that. `Retry-After` and the other headers
   * are already set. The function may also send the response itself, and return the exception that it was
   * given.
   */
  exception?(exception: RateLimitException, context: ExecutionContext): unknown
}

/**
 * The options of `RateLimitModule`: those of the shared limiter, which are also the defaults of
 * `@RateLimit`.
 */
export type RateLimitModuleOptions<Req = NestRequest, Res = unknown> = NestLimitOptions<Req, Res> & {
  /**
   * Whether the guard is called for every handler of the application. Default `true`. With `false`, it is
   * called where `@UseGuards(RateLimitGuard)` puts it, such as after a guard that authenticates.
   */
  global?: boolean
}

/** The options of a limiter, typed as the adapter calls their functions. */
export type InheritedOptions = NestLimitOptions<object, NestResponse>

/** Returns the options of the limiter of a decoration: its own, and for the rest those of the module. */
export function optionsOf(decoration: Decoration, shared: InheritedOptions): InheritedOptions {
  const merged = inheritOptions<InheritedOptions>(shared, decoration.options ?? {})
  if (merged.store === undefined) return merged
  const whole = shared.name === undefined ? decoration.name : `${shared.name}.${decoration.name}`
  return { ...merged, name: merged.name ?? limiterName(whole, /^[A-Za-z\d][\w.-]*$/) }
}

const EXCEPTION_FIX = 'Write exception, which returns what is thrown for a denied request.'
const FIXES = { onDenied: EXCEPTION_FIX, handler: EXCEPTION_FIX }

/** Throws a `TypeError` for wrong options of the module. It may leave to handlers how much is allowed. */
export function checkModule(owner: string, options: object): void {
  checkOptions(owner, options, { exception: callback, global: readGlobal }, FIXES)
}

/** Throws a `TypeError` for wrong options of a decorator, whichever module they inherit from. */
export function checkDecoration(owner: string, options: object): void {
  checkOptions(
    owner,
    options,
    { exception: callback },
    { ...FIXES, global: 'Write global in RateLimitModule.forRoot.' },
  )
}

function readGlobal(owner: string, option: string, value: unknown): void {
  if (value !== undefined && typeof value !== 'boolean')
    throw wrongOption(owner, option, 'true or false', value)
}

/**
 * Takes `exception` out of the options of a guard. Throws a `TypeError` if it is no function, and for `onDenied`,
 * which would have no effect. What is no options object is returned as it is, for a check to report.
 */
export function splitException<Options extends ExceptionOptions>(
  owner: string,
  options: Options,
): { exception: ExceptionOptions['exception']; others: Omit<Options, 'exception'> } {
  const { onDenied } = fieldsOf(options)
  if (onDenied !== undefined) throw new TypeError(`${owner}: there is no option onDenied. ${EXCEPTION_FIX}`)
  if (!isObject(options) || !('exception' in options)) return { exception: undefined, others: options }
  const { exception, ...others } = options
  return { exception: callback(owner, 'exception', exception) as typeof exception, others }
}
