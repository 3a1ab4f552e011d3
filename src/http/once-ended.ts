import type { ServerResponse } from 'node:http'
import { isOver, type OnHttp2, onceClosed } from './once-closed.js'

/**
 * Calls `onEnded` once a response is over: it was sent, or its handler ended or destroyed it. If the client
 * leaves first, calls `onLeft`, and calls `onEnded` only when the handler ends the response. If the response
 * is over already, calls neither and returns false.
 *
 * Methods of the response are replaced only once the client has left. The exception is `destroy` over
 * HTTP/2, which is replaced from the start: nothing else tells whether the handler or the client closed a
 * stream.
 */
export function onceEnded(res: ServerResponse, onEnded: () => void, onLeft: () => void): boolean {
  if (isOver(res)) return false
  const isHttp2 = (res as OnHttp2).stream !== undefined
  if (isHttp2) callBefore(res, 'destroy', onEnded)
  onceClosed(res, () => {
    if (res.writableEnded || isDestroyed(res)) {
      onEnded()
      return
    }
    onLeft()
    callBefore(res, 'end', onEnded)
    if (!isHttp2) callBefore(res, 'destroy', onEnded)
  })
  return true
}

/**
 * Returns whether the handler destroyed a response of HTTP/1.1. Its `errored` is then the error, or
 * `undefined`. If the connection was lost instead, `errored` stays null (Node.js 20 to 24).
 */
function isDestroyed(res: ServerResponse): boolean {
  return 'errored' in res && res.errored !== null
}

function callBefore(res: ServerResponse, method: 'end' | 'destroy', listener: () => void): void {
  const original = res[method] as (...args: unknown[]) => ServerResponse

  function callListenerFirst(this: ServerResponse, ...args: unknown[]): ServerResponse {
    listener()
    return original.apply(this, args)
  }

  res[method] = callListenerFirst as never
}
