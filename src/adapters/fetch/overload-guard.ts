import type { ResponseWriter } from '../../http/response-writer.js'
import { forgetWatchers, type OverloadWriter, watchersIn } from '../../overload/first-byte.js'
import type { OverloadGuardOptions } from '../../overload/options.js'
import { type OverloadControls, overloadSteps } from '../../overload/overload-steps.js'
import { beginAll } from '../../overload/watchers.js'
import { warnOnce } from '../../util/warn-once.js'
import { hasLeft, onceDisconnected } from './connection.js'
import type { Exchange } from './exchange.js'
import { exchangeOverloadOptions } from './exchange-options.js'
import { checkCall, type RateLimit, withHandle } from './handle.js'
import { limitOf } from './limit.js'
import type { FetchInfo, FetchSubject, FetchTypes } from './options.js'
import { fetchWriter } from './response-writer.js'

/** A guard of a server against too many requests at once. */
export interface OverloadGuard<Info extends FetchInfo = FetchInfo>
  extends RateLimit<Info>,
    OverloadControls<FetchSubject<Info>> {}

/**
 * Creates a guard that protects a server from too many requests at once, as `overloadGuard` of `headgate`
 * does: it finds how many may run, and denies the rest with 503.
 *
 * A request has its place until there is a response: until `handle` ends, or `finish` is called. If you call
 * the guard without `handle`, pass each response to `finish`, even one to an error. Otherwise the place is
 * taken for a minute. If the server tells when a client leaves, the place is then held as long again as the
 * request had run, or for the class's baseline if that is longer. It is held for a minute at most. Latencies
 * are compared by method, and by `info.route`. Without a route, the first segment of the path stands for it.
 *
 * On isolates such as Workers, each isolate has its own limit, no request waits for a place, and a request
 * whose client leaves gives its place back at once.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import { overloadGuard } from 'headgate/fetch'
 *
 * const guard = overloadGuard()
 * export async function GET(request: Request): Promise<Response> {
 *   return guard.handle(request, { route: '/' }, () => new Response('hello'))
 * }
 * ```
 */
export function overloadGuard<Info extends FetchInfo = FetchInfo>(
  options: OverloadGuardOptions<FetchTypes<FetchSubject<Info>>> = {},
): OverloadGuard<Info> {
  const { steps, controls } = overloadSteps<FetchSubject<Info>, Exchange>(
    exchangeOverloadOptions(options),
    overloadWriterFor(fetchWriter),
  )
  const { onDenied } = options
  const limit = limitOf<Info, FetchSubject<Info>>(steps, onDenied, ({ subject }) => subject, checkCall)
  return Object.assign(withHandle(steps.owner, limit), controls)
}

/** Returns a writer that knows when there is a response, which is the first byte. */
export function overloadWriterFor(writer: ResponseWriter<Exchange>): OverloadWriter<Exchange> {
  return {
    ...writer,
    statusOf: ({ response }) => response?.status ?? 200,
    watchersOf(_req, exchange) {
      return watchersIn(exchange, (watchers) => {
        const leave = () => watchers.leave()
        watchers.onNoResponse = warnOfNoResponse
        exchange.headerListeners.push(() => {
          forgetWatchers(exchange) // the same object may be passed again, as a new request
          beginAll(watchers)
        })
        exchange.signal ??= exchange.subject.request.signal
        if (hasLeft(exchange)) {
          leave()
          return
        }
        // A connection outlives its requests, and would keep each of them.
        exchange.headerListeners.push(writer.onceAborted(exchange, leave), onceDisconnected(exchange, leave))
      })
    },
  }
}

function warnOfNoResponse(): void {
  warnOnce('HEADGATE_NO_RESPONSE', NO_RESPONSE)
}

const NO_RESPONSE =
  'overloadGuard: a request got no response for a minute, so its place was given back. Call handle, or pass ' +
  'each response to finish, even that to an error. If you do, give your handlers a time-out.'
