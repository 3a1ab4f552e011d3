import { LAST_RECORD } from '../../http/recorded-decision.js'
import { isPromise } from '../../util/maybe-promise.js'
import type { FetchInfo, FetchSubject } from './options.js'
import { socketOf } from './socket-of.js'

/** A request, and what its response will have. All limiters that the request passes share it. */
export interface Exchange<Info extends FetchInfo = FetchInfo> {
  readonly subject: FetchSubject<Info>
  readonly headers: Map<string, string>
  /** Change the response once it has the headers. */
  readonly changes: ((response: Response) => Response)[]
  /** Called once there is a response, before it gets its headers. */
  readonly headerListeners: (() => unknown)[]
  /** Called with the status once there is a response with all its headers. */
  readonly listeners: ((status: number) => unknown)[]
  /** Called once the response has been read or cancelled, or if it never will be. */
  readonly closeListeners: (() => unknown)[]
  /** Of the request; read before its handler runs, since servers make it at the first read. */
  signal: AbortSignal | undefined
  response: Response | undefined
  /** The response once it has all headers of the exchange. */
  complete: Response | undefined
}

/**
 * Where a request has its exchange; registered for a second copy of this package. In a `WeakMap` each
 * exchange, and the request that it refers to, would live until V8 collects the old generation.
 */
const EXCHANGE = Symbol.for('headgate.fetchExchange')

interface Marked<Info extends FetchInfo> {
  [EXCHANGE]?: Exchange<Info>
}

/**
 * Returns the exchange of a request; `undefined` if no limiter has seen it. `Info` is the type of the `info`
 * that the calling limiter got.
 */
export function exchangeOf<Info extends FetchInfo>(
  request: Request & Marked<Info>,
): Exchange<Info> | undefined {
  return request[EXCHANGE]
}

/** Returns the exchange of a request, which takes what the platform knows by now. */
export function openExchange<Info extends FetchInfo>(
  request: Request & Marked<Info>,
  info: Info,
): Exchange<Info> {
  const existing = request[EXCHANGE]
  if (existing !== undefined) {
    // A limiter that knows less than an earlier one erases nothing.
    for (const [name, value] of Object.entries(info))
      if (value !== undefined) Object.assign(existing.subject, { [name]: value })
    return existing
  }
  const subject = Object.assign(new Subject(request), info)
  subject.request = request // replaces a field of this name in `info`
  const exchange: Exchange<Info> = {
    subject,
    headers: new Map(),
    changes: [],
    headerListeners: [],
    listeners: [],
    closeListeners: [],
    signal: undefined,
    response: undefined,
    complete: undefined,
  }
  request[EXCHANGE] = exchange
  return exchange
}

/** Calls the close listeners of an exchange, once. The platform waits for the promises that they return. */
export function closeExchange({ closeListeners, subject }: Exchange): void {
  const work = callClosers(closeListeners).filter(isPromise)
  if (work.length > 0) subject.waitUntil?.(Promise.all(work))
}

/** Calls and removes close listeners, even if their exchange no longer exists. Returns their results. */
export function callClosers(closeListeners: Exchange['closeListeners']): unknown[] {
  return closeListeners.splice(0).map((listener) => listener())
}

/**
 * Marks a response with the headers of an exchange: an application may return the same object for several
 * requests. Registered, as the exchange is. A `WeakSet` would cost more than the headers.
 */
const QUOTA_HEADERS = Symbol.for('headgate.quotaHeaders')

interface MarkedResponse {
  [QUOTA_HEADERS]?: true
}

export function hasQuotaHeaders(response: Response): boolean {
  return QUOTA_HEADERS in response
}

/** Marks a response that has the headers of an exchange, and returns it. */
export function markQuotaHeaders(response: Response & MarkedResponse): Response {
  response[QUOTA_HEADERS] = true
  return response
}

/** What key functions read as a request. Headers cost much on some servers, so they are read late. */
class Subject {
  declare readonly ip: unknown
  declare readonly route: unknown
  /** Returns the connection of the request, if the adapter knows it. */
  declare readonly findSocket: unknown
  /** Returns the pattern of the route. It takes the place of `route` if reading that is slow. */
  declare readonly findRoute: unknown
  request: Request
  readonly [LAST_RECORD] = undefined

  constructor(request: Request) {
    this.request = request
  }

  get method(): unknown {
    return this.request.method
  }

  get url(): unknown {
    return new URL(this.request.url).pathname
  }

  get headers(): unknown {
    return this.request.headers
  }

  /** If there is no address, the connection of the server shows whether it was lost or never existed. */
  get socket(): unknown {
    const { ip: remoteAddress, request } = this
    if (remoteAddress) return { remoteAddress }
    const socket = typeof this.findSocket === 'function' ? this.findSocket() : socketOf(request)
    return socket ?? { remoteAddress, destroyed: request.signal?.aborted === true }
  }

  /** The pattern, as the mount path of an Express router is one: its `route` is an object. */
  get baseUrl(): unknown {
    return typeof this.findRoute === 'function' ? this.findRoute() : this.route
  }
}
