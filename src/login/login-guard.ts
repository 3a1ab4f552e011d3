import type { IncomingMessage, ServerResponse } from 'node:http'
import type { NodeTypes } from '../http/options.js'
import { middlewareOf, type RateLimitMiddleware } from '../http/rate-limit.js'
import { nodeWriter } from '../http/response-writer.js'
import { expressRoute } from './express-route.js'
import { guardSteps, type LoginControls, OWNER } from './guard-steps.js'
import type { LoginGuardOptions } from './options.js'

/** Middleware that guards a login. Several routes behind one guard share its limits. */
export interface LoginGuard<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
> extends RateLimitMiddleware<Req, Res>,
    LoginControls<Req> {}

/**
 * Creates middleware that stops password guessing and lets real users in. It limits failed attempts per
 * address, per account across all addresses, per account and address, and in a row, decided together in one
 * round trip.
 *
 * - An attempt is charged before its handler runs, so that concurrent guesses are also limited. A success
 *   refunds that, and clears the failures of the account, but not those of the address: logging in with an
 *   account of one's own buys no guesses.
 * - A status below 300 is a success, if the guard knows that the request went to the login: a POST to its
 *   route, `app.post('/login', guard, handler)`, or to `path`. A redirect is a failure, unless
 *   `failureRedirect`, `succeeded` or `reportSuccess` says otherwise.
 * - Safe requests (GET, HEAD, OPTIONS, TRACE: RFC 9110 §9.2.1) without the field are not attempts and pass.
 *   With the field, they may fail, and succeed only by `reportSuccess`. An attempt whose field is missing or
 *   malformed (an array, an object, invisible characters) gets a 400. A body parser must run first.
 * - All denied attempts get the same response, without figures of any limit.
 * - While the store is unavailable each process decides in its own memory (`onStoreError: 'local'`).
 *
 * Numbers and their sources: `defaultPolicies` and `consecutive`; OWASP ASVS 5.0 V6.3, OWASP Authentication,
 * Credential Stuffing Prevention and Bot Management cheat sheets, NIST SP 800-63B-4 §3.2.2.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 */
export function loginGuard<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
>(options: LoginGuardOptions<NodeTypes<Req, Res>>): LoginGuard<Req, Res> {
  const routeOf = (req: Req): unknown => expressRoute(req, guard)
  const { steps, controls } = guardSteps<Req, Res>(options, nodeWriter, routeOf)
  const guard = Object.assign(middlewareOf(OWNER, steps, options.onDenied), controls)
  return guard
}
