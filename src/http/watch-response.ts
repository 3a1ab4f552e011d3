import type { ServerResponse } from 'node:http'
import type { MaybePromise } from '../util/maybe-promise.js'
import { warnOnce } from '../util/warn-once.js'
import { onceClosed } from './response-end.js'

/** A denied request that has no response after this time probably never gets one. */
const PATIENCE_MS = 5000
/** How many denials of each limiter are watched: a function that never responds shows it soon. */
const WATCHED = 10

/**
 * Creates a function that has `onDenied` respond, and warns if no response begins. An application may respond
 * later than its function returns, so only time can tell. `respond` calls `passOn` if the request goes on to
 * the next handler, whose response is its own matter.
 */
export function responseWatch(
  owner: string,
): (res: ServerResponse, respond: (passOn: () => void) => MaybePromise<unknown>) => MaybePromise<unknown> {
  let left = WATCHED

  function watchResponse(res: ServerResponse, passedOn: () => boolean): void {
    if (left === 0 || res.headersSent) return
    left--
    const timer = setTimeout(() => {
      stopListening()
      if (!res.headersSent && !passedOn())
        warnOnce('HEADGATE_NO_RESPONSE', NO_RESPONSE.replace('OWNER', owner))
    }, PATIENCE_MS)
    timer.unref()
    const stopListening = onceClosed(res, () => clearTimeout(timer))
  }

  return (res, respond) => {
    let isPassedOn = false
    const responded = respond(() => {
      isPassedOn = true
    })
    watchResponse(res, () => isPassedOn)
    return responded
  }
}

const NO_RESPONSE =
  'headgate: OWNER has denied a request, and onDenied has not responded within 5 seconds, so the client still waits. ' +
  "Respond in onDenied, or listen to limiter.events.on('denied', …) to log denials, and leave onDenied out."
