import { inspect } from 'node:util'
import type { RouteOptions } from 'fastify'
import { inheritOptions } from '../../http/inherited-options.js'
import { limiterName } from '../../http/limiter-name.js'
import { wrongOption } from '../../util/validate.js'
import type { RateLimitHookOptions } from './hook.js'

/** A route, as an `onRoute` hook sees it. */
export type Route = RouteOptions

type OwnLimit = RateLimitHookOptions & { readonly hook?: unknown }

/** Returns whether a route has its own options. Throws a `TypeError` for others than these and `false`. */
export function isOwnLimit(owner: string, own: unknown): own is OwnLimit {
  if (own === undefined || own === false) return false
  if (typeof own === 'object' && own !== null) return true
  throw wrongOption(owner, 'config.rateLimit', 'an options object, or false', own)
}

/**
 * Returns the options of a route's limiter: its own, and for the rest those of the plugin. A limiter in a
 * shared store is named after its route, so that it counts apart from those of other routes.
 */
export function ownOptions(
  shared: RateLimitHookOptions,
  { hook: _, ...own }: OwnLimit,
  route: Route,
): RateLimitHookOptions {
  const merged = inheritOptions<RateLimitHookOptions>(shared, own)
  return merged.store === undefined ? merged : { name: nameOf(route, shared.name), ...merged }
}

/**
 * Returns the name of a route's limiter: `POST.login` for `POST /login`, after the name of the plugin's own.
 */
function nameOf({ method, url, constraints }: Route, prefix: string | undefined): string {
  const route = `${prefix === undefined ? '' : `${prefix}.`}${[method].flat().join('-')}${url}`
  const whole = constraints === undefined ? route : `${route} ${inspect(constraints, { sorted: true })}`
  return limiterName(whole, /^[\w.-]+(\/|(\/[A-Za-z\d-]+)+)$/)
}
