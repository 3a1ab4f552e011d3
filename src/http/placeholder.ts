import { type HeaderList, headersByName } from './header-list.js'

/**
 * Returns whether an object only takes the place of a response: `{}`, or what engine.io passes to middleware
 * for an upgrade to a WebSocket. It sends nothing, and does not tell how the request ended.
 */
export function isPlaceholder(res: object): boolean {
  return typeof (res as { getHeaderNames?: unknown }).getHeaderNames !== 'function'
}

/** Returns the error that a callback gets if a denial has no response to be sent in. */
export function denialError(status: number, headerList: HeaderList): Error {
  const headers = headersByName(headerList)
  return Object.assign(new Error(`Denied with status ${status}`), { status, statusCode: status, headers })
}

const NEEDING = 'count, actualCost, delay and concurrency need'

/** Returns the error for a request whose outcome no response will tell. `needs` says what needs one. */
export function noOutcome(
  owner: string,
  needs = owner === 'loginGuard' ? 'a login needs' : NEEDING,
): TypeError {
  return new TypeError(
    `${owner}: ${needs} a response, but this request has none, as in an upgrade to a WebSocket. Exempt it ` +
      'with skip, or charge it with createLimiter, and release the decision when its socket closes.',
  )
}
