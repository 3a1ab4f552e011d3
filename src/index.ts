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

export * from './http.js'

declare global {
  namespace Express {
    interface Request {
      /** The decision of the last limiter that this request passed. */
      rateLimit?: http.Decision
    }
  }
}

/** A request of Express, by a name of this package: types of exported middleware are written with it. */
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

/** Takes any request, so that it fits Connect, and Express infers `req.params` from the path of a route. */
type AnyRequest = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void

/** The properties of a function, without its call signature: Express would infer `req.params` from that. */
type Properties<T> = Pick<T, keyof T>

/** The middleware of `rateLimit`; carries its limiter. */
export interface RateLimitMiddleware<Req extends IncomingMessage = ExpressRequest>
  extends AnyRequest,
    Properties<http.RateLimitMiddleware<Req>> {}

/** Middleware that guards a login. Several routes behind one guard share its limits. */
export interface LoginGuard<Req extends IncomingMessage = ExpressRequest>
  extends AnyRequest,
    Properties<http.LoginGuard<Req>> {}

/**
 * The type of `byUser`. This alias and the next two exist because the declarations of projects spell out such
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

/**
 * Creates middleware that lets a request through with `next()`, or answers it: 429 with `Retry-After` when
 * it is over its limit, 403 when its address is in `block`, 503 when the store failed and `onStoreError` is
 * `'deny'`. The request carries its `Decision` as `req.rateLimit`.
 *
 * The callbacks among the options take requests and responses of Express, unless they are annotated with
 * types of your own. The same function as `rateLimit` of `headgate/http`, which is typed for `node:http`.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 * @function
 */
export const rateLimit: MakeRateLimit = httpRateLimit

/**
 * Creates middleware that stops password guessing and lets real users in: it limits failed attempts per
 * address, per account across all addresses, per account and address, and in a row, decided together in one
 * round trip. A body parser must run first. A status below 300 is a success, unless `succeeded`,
 * `failureRedirect` or `reportSuccess` says otherwise.
 *
 * The callbacks among the options take requests and responses of Express, unless they are annotated with
 * types of your own. The same function as `loginGuard` of `headgate/http`, which is typed for `node:http`.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 * @function
 */
export const loginGuard: MakeLoginGuard = httpLoginGuard

/**
 * Identifies a client by the authenticated user: what `get` returns, or `req.user.id`, `.sub` or
 * `.username`, the first that exists. Without a user it is `anonymous`, by default the address. The
 * middleware must come after the one that authenticates. Otherwise all clients are anonymous.
 * @function
 */
export const byUser: MakeExpressByUser = httpByUser
