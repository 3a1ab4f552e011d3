import type { IncomingMessage, ServerResponse } from 'node:http'
import type { NodeTypes } from '../http/options.js'
import { middlewareOf, type RateLimitMiddleware } from '../http/rate-limit.js'
import { nodeWriter, seeBody } from '../http/response-writer.js'
import { expressRoute } from './express-route.js'
import { guardSteps, type LoginControls } from './guard-steps.js'
import type { LoginGuardOptions } from './options.js'
import type { GuardRoute } from './place.js'

/** Middleware that guards a login. Several routes behind one guard share its limits. */
export interface LoginGuard<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
> extends RateLimitMiddleware<Req, Res>,
    LoginControls<Req> {}

/**
 * Creates middleware that stops password guessing without locking out real users. It limits failed attempts
 * per IP address, per account from all addresses, per account and address, and in a row. One round trip
 * decides all four.
 *
 * - **Charges.** An attempt is charged before its handler runs, so concurrent guesses are also limited. A
 *   success refunds the attempt, and clears the failures of the account. It does not clear those of the
 *   address, so logging in to your own account buys no guesses.
 * - **Success.** A status below 300 is a success if the guard knows that the request went to the login. That
 *   is a POST to its route, `app.post('/login', guard, handler)`, or to `path`. A redirect is a failure,
 *   unless `failureRedirect`, `succeeded` or `reportSuccess` says otherwise.
 * - **Attempts.** Mount a body parser before the guard. If the field is missing or malformed (an array, an
 *   object, invisible characters), the response is a 400. Requests with a safe method (GET, HEAD, OPTIONS,
 *   TRACE: RFC 9110 §9.2.1) and without the field are not attempts, and pass. With the field, they may fail,
 *   and succeed only by `succeeded` or `reportSuccess`.
 * - **Denials.** All denied attempts get the same response, without figures of any limit. If only
 *   attempts in progress cause a denial, its `Retry-After` is shorter, and no ban counts it.
 *
 * The default numbers follow PCI DSS 4.0 8.3.4 for an account, and NIST SP 800-63B-4 §3.2.2 for failures in
 * a row. The rules follow OWASP ASVS 5.0 V6.3, and the OWASP cheat sheets on Authentication, Credential
 * Stuffing Prevention and Bot Management.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import bodyParser from 'body-parser'
 * import connect from 'connect'
 * import { loginGuard } from 'headgate/http'
 *
 * const app = connect()
 * app.use(bodyParser.urlencoded({ extended: false }))
 * app.use('/login', loginGuard({ field: 'username', path: '/login' }))
 * app.use('/login', (_req, res) => {
 *   res.writeHead(401).end('Wrong name or password') // your check
 * })
 * ```
 */
export function loginGuard<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
>(options: LoginGuardOptions<NodeTypes<Req, Res>>): LoginGuard<Req, Res> {
  const routeOf = (req: Req): GuardRoute => expressRoute(req, guard)
  const { steps, controls } = guardSteps<Req, Res>(options, { ...nodeWriter, seeBody }, routeOf)
  const guard = Object.assign(middlewareOf(steps, options.onDenied), controls)
  return guard
}
