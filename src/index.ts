/**
 * Rate limiting for Express: middleware, policies, keys, the memory store and the login guard.
 *
 * @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Request, Response } from 'express'
import type { NodeTypes } from './http/options.js'
import { rateLimit as httpRateLimit } from './http/rate-limit.js'
import type * as http from './http.js'
import { byUser as httpByUser, type MakeByUser } from './keys/by-user.js'
import { loginGuard as httpLoginGuard } from './login/login-guard.js'
import { overloadGuard as httpOverloadGuard } from './overload/overload-guard.js'

export * from './http.js'

declare global {
  namespace Express {
    interface Request {
      /** The decision of the last limiter that this request passed. */
      rateLimit?: http.Decision
    }
  }
}

/** A request of Express, under a name of this package that declarations of exported middleware can use. */
export interface ExpressRequest extends Request {}

/** A response of Express. */
export interface ExpressResponse extends Response {}

/** The options of `rateLimit`, with callbacks for the requests and responses of Express. */
export type RateLimitOptions<
  Req extends IncomingMessage = ExpressRequest,
  Res extends ServerResponse = ExpressResponse,
> = http.RateLimitOptions<Req, Res>

/** The options of `loginGuard`, with callbacks for the requests and responses of Express. */
export type LoginGuardOptions<
  Req extends IncomingMessage = ExpressRequest,
  Res extends ServerResponse = ExpressResponse,
> = http.LoginGuardOptions<Req, Res>

/** The options of `overloadGuard`, with callbacks for the requests and responses of Express. */
export type OverloadGuardOptions<
  Req extends IncomingMessage = ExpressRequest,
  Res extends ServerResponse = ExpressResponse,
> = http.OverloadGuardOptions<Req, Res>

/**
 * A handler that takes any request. It fits Connect, and lets Express infer `req.params` from the path of a
 * route.
 */
type AnyRequest = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void

/** The properties of a function without its call signature, from which Express would infer `req.params`. */
type Properties<T> = Pick<T, keyof T>

/** Express middleware that `rateLimit` returns, with its limiter as a property. */
export interface RateLimitMiddleware<Req extends IncomingMessage = ExpressRequest>
  extends AnyRequest,
    Properties<http.RateLimitMiddleware<Req>> {}

/** Middleware that guards a login. Several routes behind one guard share its limits. */
export interface LoginGuard<Req extends IncomingMessage = ExpressRequest>
  extends AnyRequest,
    Properties<http.LoginGuard<Req>> {}

/** Middleware that guards a server against too many requests at once. */
export interface OverloadGuard<Req extends IncomingMessage = ExpressRequest>
  extends AnyRequest,
    Properties<http.OverloadGuard<Req>> {}

/**
 * The type of `byUser`. This alias and the next ones exist because the declarations of projects spell out such
 * types, and cannot name types that are not exported.
 */
type MakeExpressByUser = MakeByUser<NodeTypes<ExpressRequest, ExpressResponse>>

/** The type of `rateLimit`. */
type MakeRateLimit = {
  (options: RateLimitOptions): RateLimitMiddleware
  <Req extends IncomingMessage = ExpressRequest, Res extends ServerResponse = ExpressResponse>(
    options: RateLimitOptions<Req, Res>,
  ): RateLimitMiddleware<Req>
}

/** The type of `loginGuard`. */
type MakeLoginGuard = {
  (options: LoginGuardOptions): LoginGuard
  <Req extends IncomingMessage = ExpressRequest, Res extends ServerResponse = ExpressResponse>(
    options: LoginGuardOptions<Req, Res>,
  ): LoginGuard<Req>
}

/** The type of `overloadGuard`. */
type MakeOverloadGuard = {
  (options?: OverloadGuardOptions): OverloadGuard
  <Req extends IncomingMessage = ExpressRequest, Res extends ServerResponse = ExpressResponse>(
    options?: OverloadGuardOptions<Req, Res>,
  ): OverloadGuard<Req>
}

/**
 * Creates Express middleware that limits the requests of each client.
 *
 * An allowed request goes on to the next handler, which finds the decision at `req.rateLimit`. A denied
 * request gets a response:
 *
 * - 429 with `Retry-After` if it is over its limit,
 * - 403 if its IP address is in `block`,
 * - 503 if the store failed and `onStoreError` is `'deny'`.
 *
 * Callbacks get the requests and responses of Express, unless you annotate them with your own types. This is
 * the same function as `rateLimit` of `headgate/http`, which is typed for `node:http`.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import express from 'express'
 * import { rateLimit } from 'headgate'
 *
 * const app = express()
 * app.use(rateLimit({ limit: 100, window: '1m' }))
 * app.get('/', (_req, res) => {
 *   res.send('hello')
 * })
 * app.listen(3000)
 * ```
 * @function
 */
export const rateLimit: MakeRateLimit = httpRateLimit

/**
 * Creates Express middleware that stops password guessing without locking out real users.
 *
 * It limits failed attempts per IP address, per account from all addresses, per account and address, and in
 * a row. One round trip decides all four. Mount a body parser before it. A status below 300 is a success,
 * unless `succeeded`, `failureRedirect` or `reportSuccess` says otherwise. `loginGuard` of `headgate/http`
 * is the same function, and has more details.
 *
 * Callbacks get the requests and responses of Express, unless you annotate them with your own types.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import express from 'express'
 * import { loginGuard } from 'headgate'
 *
 * const app = express()
 * const guard = loginGuard({ field: 'username' })
 * app.post('/login', express.urlencoded(), guard, (req, res) => {
 *   const isRight = req.body.password === 'engine' // your check
 *   res.sendStatus(isRight ? 204 : 401)
 * })
 * app.listen(3000)
 * ```
 * @function
 */
export const loginGuard: MakeLoginGuard = httpLoginGuard

/**
 * Creates Express middleware that protects a server from too many requests at once. It finds how many may run,
 * and denies the rest with 503, a random `Retry-After` and the problem type `temporary-reduced-capacity`.
 * `overloadGuard` of `headgate/http` is the same function, and has more details.
 *
 * Mount it before all other middleware, and once for a server.
 *
 * Callbacks get the requests and responses of Express, unless you annotate them with your own types.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import express from 'express'
 * import { overloadGuard } from 'headgate'
 *
 * const app = express()
 * app.use(overloadGuard({ priority: (req) => (req.path === '/pay' ? 'critical' : 'default') }))
 * app.get('/', (_req, res) => {
 *   res.send('hello')
 * })
 * app.listen(3000)
 * ```
 * @function
 */
export const overloadGuard: MakeOverloadGuard = httpOverloadGuard

/**
 * Creates a key that identifies a client by the authenticated user.
 *
 * The user is what `get` returns, or the first of `req.user.id`, `.sub` and `.username` that exists. Without
 * a user, the key `anonymous` identifies the client, by default `byIp()`. A user never shares a bucket with
 * an anonymous client, even if both identities are the same string.
 *
 * Mount the limiter after the middleware that authenticates. Otherwise all clients are anonymous.
 *
 * @example
 * ```ts
 * import { byUser, rateLimit } from 'headgate'
 *
 * const api = rateLimit({ limit: 1000, window: '1h', key: byUser() })
 * ```
 * @function
 */
export const byUser: MakeExpressByUser = httpByUser
