import type { ServerResponse } from 'node:http'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { warnOnce } from '../util/warn-once.js'
import { onceClosed } from './response-end.js'

/** A denied request that has no response after this time probably never gets one. */
const PATIENCE_MS = 5000
/** How many denials of each limiter are watched: a function that never responds shows it soon. */
const WATCHED = 10

/**
 * Creates a function that has `onDenied` respond, and warns if no response begins. An application may respond
 * later than its function returns, so time alone can tell.
 */
export function responseWatch(
  owner: string,
): (res: ServerResponse, respond: () => MaybePromise<unknown>) => MaybePromise<unknown> {
  let left = WATCHED

  function watchResponse(res: ServerResponse): void {
    if (left === 0 || res.headersSent) return
    left--
    const timer = setTimeout(() => {
      stopListening()
      if (!res.headersSent) warnOnce('HEADGATE_NO_RESPONSE', NO_RESPONSE.replace('OWNER', owner))
    }, PATIENCE_MS)
    timer.unref()
    const stopListening = onceClosed(res, () => clearTimeout(timer))
  }

  return (res, respond) => {
    const responded = respond()
    return thenMaybe(responded, () => watchResponse(res))
  }
}

const NO_RESPONSE =
  'headgate: OWNER has denied a request, and onDenied has not responded within 5 seconds, so the client still waits. ' +
  "Respond in onDenied, or listen to limiter.events.on('denied', …) to log denials, and leave onDenied out."
