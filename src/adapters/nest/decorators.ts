import { processWide } from '../../util/process-wide.js'
import { fieldsOf } from '../../util/values.js'
import { type Decoration, decorate } from './metadata.js'
import type { NestLimitOptions } from './options.js'
import type { NestRequest } from './types.js'

/** Decorates a class or a method of it. */
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
 * Limits the handlers of a controller, a resolver or a gateway together, or one handler, by a limiter of its
 * own. Its options stand in place of those of the module: what they leave out is as there, and of `limit`,
 * `window`, `policy` and `limits` one replaces all, and `delay`. A handler's decorator replaces that of its
 * class.
 *
 * In a shared store the limiter is named after the class and the method, such as `AuthController.login`: two
 * of the same name and policy share their counts, as do the processes of an application. Give `name` if
 * classes have the same name, or if a minifier renames them. Subclasses share the limiter of their base.
 *
 * Wrong options throw a `TypeError` when the application starts; those that do not go with the options of
 * the module, as without an amount in both, when a handler is called. A second decorator throws at once.
 */
export function RateLimit<Req extends object = NestRequest, Res = unknown>(
  options: NestLimitOptions<Req, Res> = {},
): RateLimitDecorator {
  return decorator(options)
}

/** Exempts a class or a handler from all limits. Throws a `TypeError` if it gets an argument. */
export function SkipRateLimit(): RateLimitDecorator
export function SkipRateLimit(...given: readonly unknown[]): RateLimitDecorator {
  if (given.length === 0) return decorator(undefined)
  const fix = 'Write @RateLimit({ limits: […] }) with the limits that remain.'
  throw new TypeError(`SkipRateLimit: it takes no argument, and skips all limits. ${fix}`)
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
