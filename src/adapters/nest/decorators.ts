import { processWide } from '../../util/process-wide.js'
import { fieldsOf } from '../../util/values.js'
import { type Decoration, decorate } from './metadata.js'
import type { NestLimitOptions } from './options.js'
import type { NestRequest } from './types.js'

/** A decorator for a class or a method. */
export type RateLimitDecorator = ClassDecorator & MethodDecorator

/** A decoration with its own limiter. */
export interface LimitDecoration extends Decoration {
  readonly options: object
}

function isLimit(decoration: Decoration): decoration is LimitDecoration {
  return decoration.options !== undefined
}

/** All decorations with their own limiter: wrong options are found when the application starts. */
export const limitedDecorations = processWide('nestDecorations', () => new Set<LimitDecoration>())

/**
 * Gives a handler its own limiter, or all handlers of a controller, a resolver or a gateway together.
 *
 * - **Options.** The decorator inherits the module's options, except those that it sets. If it sets `limit`
 *   and `window`, `policy` or `limits`, it inherits none of these. It never inherits `candidate` or `delay`.
 *   A handler's decorator replaces that of its class.
 * - **Name.** In a shared store, the limiter is named after the class and the method, such as
 *   `AuthController.login`. Limiters with the same name and policy share their counts, as the processes of
 *   an application do. Set `name` if two classes have the same name, or if a minifier renames them.
 *   Subclasses share the limiter of their base.
 * - **Errors.** Wrong options throw a `TypeError` when the application starts. If options conflict with
 *   those of the module, headgate emits a process warning, and the error is thrown when a handler is called.
 *   A second decorator throws at once.
 *
 * @example
 * ```ts
 * import { Controller, Post } from '@nestjs/common'
 * import { RateLimit } from 'headgate/nest'
 *
 * @Controller()
 * export class AuthController {
 *   @Post('login')
 *   @RateLimit({ limit: 5, window: '15m' })
 *   login() {
 *     return 'welcome'
 *   }
 * }
 * ```
 */
export function RateLimit<Req extends object = NestRequest, Res = unknown>(
  options: NestLimitOptions<Req, Res> = {},
): RateLimitDecorator {
  return decorator(options)
}

/**
 * Exempts a handler or a class from all limits. Throws a `TypeError` if it gets an argument.
 *
 * @example
 * ```ts
 * import { Controller, Get } from '@nestjs/common'
 * import { SkipRateLimit } from 'headgate/nest'
 *
 * @Controller('health')
 * @SkipRateLimit()
 * export class HealthController {
 *   @Get()
 *   check() {
 *     return 'ok'
 *   }
 * }
 * ```
 */
export function SkipRateLimit(): RateLimitDecorator
export function SkipRateLimit(...given: readonly unknown[]): RateLimitDecorator {
  if (given.length === 0) return decorator(undefined)
  const fix = 'To skip only some, write @RateLimit({ limits: […] }) with the others.'
  throw new TypeError(`SkipRateLimit: it takes no arguments, and skips all limits. ${fix}`)
}

function decorator(options: object | undefined): RateLimitDecorator {
  return (target: object, method?: string | symbol, descriptor?: { readonly value?: unknown }) => {
    const owner = method === undefined ? target : target.constructor
    const name = String(fieldsOf(owner).name)
    const decoration: Decoration = {
      name: method === undefined ? name : `${name}.${String(method)}`,
      options,
    }
    decorate((descriptor?.value ?? target) as object, decoration)
    if (isLimit(decoration)) limitedDecorations.add(decoration)
  }
}
