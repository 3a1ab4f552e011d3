import type { ServerResponse } from 'node:http'
import { inBackground } from '../util/background-timer.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import { warnOnce } from '../util/warn-once.js'
import { isPlaceholder } from './placeholder.js'
import { onceClosed } from './response-end.js'

/** A denied request without a response after this time will probably never get one. */
const PATIENCE_MS = 5000
/** How many denials of each limiter to watch. A function that never responds is found among the first. */
const WATCHED = 10

/**
 * Creates a function that lets `onDenied` respond, and warns if no response begins in time. An application
 * may respond after its function has returned, so nothing else shows it. `respond` calls `passOn` if the
 * request goes on to the next handler, whose response is not watched.
 */
export function responseWatch(
  owner: string,
): (res: ServerResponse, respond: (passOn: () => void) => MaybePromise<unknown>) => MaybePromise<unknown> {
  let left = WATCHED

  function watchResponse(res: ServerResponse, passedOn: () => boolean): void {
    if (left === 0 || res.headersSent || isPlaceholder(res)) return
    left--
    const timer = setTimeout(() => {
      stopListening()
      if (!res.headersSent && !passedOn())
        warnOnce('HEADGATE_NO_RESPONSE', NO_RESPONSE.replace('OWNER', owner))
    }, PATIENCE_MS)
    inBackground(timer)
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
  'headgate: OWNER denied a request, but onDenied did not respond within 5 seconds, so the client is still ' +
  "waiting. Respond in onDenied. If you only log denials, listen to limiter.events.on('denied', …) instead."
