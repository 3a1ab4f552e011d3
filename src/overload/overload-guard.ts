import type { IncomingMessage, ServerResponse } from 'node:http'
import type { NodeTypes } from '../http/options.js'
import { middlewareOf, type RateLimitMiddleware } from '../http/rate-limit.js'
import { nodeOverloadWriter } from './first-byte.js'
import type { OverloadGuardOptions } from './options.js'
import { type OverloadControls, overloadSteps } from './overload-steps.js'

/** Middleware that guards a server against too many requests at once. */
export interface OverloadGuard<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
> extends RateLimitMiddleware<Req, Res>,
    OverloadControls<Req> {}

/**
 * Creates middleware that protects a server from too many requests at once. It finds how many may run, and
 * denies the rest with 503, a random `Retry-After` and the problem type `temporary-reduced-capacity`.
 *
 * - **The limit.** It follows from how long requests take: they take longer if there are too many. Latencies
 *   are compared within classes of routes. While requests are denied, the guard lets only a quarter of the
 *   limit run at once from time to time, at least three, to measure their baseline: how long they take
 *   without a queue.
 * - **Places.** A request has a place until the first byte of its response. If its client leaves first, the
 *   handler's work goes on, so the place is held until the handler ends the response. It is held at most as
 *   long again as the request had run, or for the class's baseline if that is longer, and never longer than
 *   a minute. Set a timeout for handlers, because one that never responds keeps its place until its client
 *   leaves. Streams and WebSockets count until they begin. If a handler still waits for the rest of a body
 *   after a second, its request goes on without a place.
 * - **Denials.** The lowest `priority` is denied first. Within a class, a client is either served or not for
 *   some seconds. A tenant within its share is served before others.
 * - **Waiting.** In a burst, a request waits for a place, for `maxWait` at most. Time in the queue of the
 *   event loop counts: a request that waited there for too long is denied at once. If the client of a
 *   waiting request leaves, the request never reaches the handler.
 *
 * Mount it first, and once for a server. The limit counts requests of this process only.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { overloadGuard } from 'headgate/http'
 *
 * const guard = overloadGuard({ priority: (req) => (req.url === '/pay' ? 'critical' : 'default') })
 * createServer((req, res) => {
 *   guard(req, res, (error) => {
 *     if (error) res.writeHead(500).end()
 *     else res.end('hello')
 *   })
 * }).listen(3000)
 * ```
 */
export function overloadGuard<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
>(options: OverloadGuardOptions<NodeTypes<Req, Res>> = {}): OverloadGuard<Req, Res> {
  const { steps, controls } = overloadSteps<Req, Res>(options, nodeOverloadWriter)
  return Object.assign(middlewareOf(steps, options.onDenied), controls)
}
