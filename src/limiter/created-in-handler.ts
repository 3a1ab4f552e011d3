import { asRequest, peerAddress } from '../keys/request.js'
import { afterTurn } from '../util/defer.js'
import { processWide } from '../util/process-wide.js'
import { RecentMap } from '../util/recent-map.js'
import { userLine } from '../util/user-line.js'
import { fieldsOf, isObject } from '../util/values.js'
import { warnOnce } from '../util/warn-once.js'
import type { Watch } from './watch-charges.js'

/** This many equal requests in a row, each with a new limiter from the same place, are not a coincidence. */
const EQUAL_REQUESTS = 3
/** As many as that of a Fetch server: an application's tests may well create a limiter for each request. */
const EQUAL_FETCH_REQUESTS = 20
/** Of the latest requests at each place, at least this many are remembered. */
const REMEMBERED = 100

/** A line of code that creates limiters while requests are handled. */
interface CreationPlace {
  /** Whether a limiter from here was charged by a second request, as one that is kept is. */
  isKept: boolean
  readonly requests: RecentMap<number>
}

const places = processWide('limitersInHandlers', () => new Map<string, CreationPlace>())

/**
 * Creates the watch on the first charges of a new limiter. It warns if limiters are created in a handler.
 * Then equal requests get a new limiter each, it is charged in the turn of the event loop that created it,
 * and no limiter from this place is ever charged by a second request. Limiters that are kept, such as one
 * for each tenant, cause no warning: an equal request finds the one that it had.
 */
export function watchCreation(hasStore: boolean): Watch {
  const created = new Error('created here')
  let isSameTurn = true
  afterTurn(() => {
    isSameTurn = false
  })
  return (first) => {
    const request = isSameTurn ? textOf(first) : undefined
    if (request === undefined) return undefined
    const line = userLine(created.stack)
    const place = places.get(line) ?? { isKept: false, requests: new RecentMap<number>(REMEMBERED) }
    places.set(line, place)
    const times = (place.requests.get(request) ?? 0) + 1
    place.requests.set(request, times)
    const enough = isIterable(asRequest(first).headers) ? EQUAL_FETCH_REQUESTS : EQUAL_REQUESTS
    if (times >= enough && !place.isKept) warn(line, hasStore)
    return function watchSecond(subject) {
      if (subject === first) return watchSecond
      place.isKept = true
      return undefined
    }
  }
}

function warn(line: string, hasStore: boolean): void {
  const effect = hasStore
    ? 'each has its own denial cache and circuit breaker, and is never closed'
    : 'each counts on its own, so none of them ever limits'
  const fix = 'Create the limiter once, outside the handler.'
  warnOnce(
    'HEADGATE_CREATED_IN_HANDLER',
    `headgate: each request creates a new limiter, ${line}: ${effect}. ${fix}`,
  )
}

/**
 * Returns what equal requests have in common; `undefined` for a subject that neither a connection carries
 * nor a Fetch server. The platform of such a server may not know the address.
 */
function textOf(subject: unknown): string | undefined {
  const view = asRequest(subject)
  const { method, headers, body } = view
  const { request = subject } = fieldsOf(subject) // of Koa, or of a Fetch server, whose `url` is a whole URL
  const { originalUrl, url = originalUrl ?? view.url } = fieldsOf(request)
  const address = peerAddress(subject)
  const fields = isIterable(headers) ? Array.from(headers) : headers // JSON shows none of `Headers`
  if (typeof url !== 'string' || url === '' || typeof method !== 'string') return undefined
  if (address === undefined && fields === headers) return undefined
  try {
    return JSON.stringify([method, originalUrl ?? url, fields, body, address])
  } catch {
    return undefined // a body that JSON cannot hold
  }
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return isObject(value) && Symbol.iterator in value
}
