import { PASSAGE } from '../../http/passage.js'
import type { Server } from '../../http/server.js'
import type { FetchInfo, FetchSubject } from './options.js'

/** A request, and what its response will have. All limiters that the request passes share it. */
export interface Exchange {
  readonly subject: FetchSubject<FetchInfo>
  readonly headers: Map<string, string>
  /** Called with the status once there is a response. */
  readonly listeners: ((status: number) => unknown)[]
  /** Called once the response has been read or discarded, or the request is aborted. */
  readonly closeListeners: (() => void)[]
  /** Of the request; read before its handler runs, since servers make it at the first read. */
  signal: AbortSignal | undefined
  response: Response | undefined
}

/**
 * Where a request has its exchange; registered for a second copy of this package. In a `WeakMap` each
 * exchange, and the request that it refers to, would live until V8 collects the old generation.
 */
const EXCHANGE = Symbol.for('headgate.fetchExchange')

interface Marked {
  [EXCHANGE]?: Exchange
}

/** Returns the exchange of a request; `undefined` where no limiter has seen it. */
export function exchangeOf(request: Request): Exchange | undefined {
  return (request as Marked)[EXCHANGE]
}

/** Returns the exchange of a request, which takes what the platform knows by now. */
export function openExchange(request: Request, info: FetchInfo): Exchange {
  const known = exchangeOf(request)
  if (known !== undefined) {
    Object.assign(known.subject, info)
    return known
  }
  const subject = new Subject(request, info) as object as FetchSubject
  const exchange: Exchange = {
    subject,
    headers: new Map(),
    listeners: [],
    closeListeners: [],
    signal: undefined,
    response: undefined,
  }
  ;(request as Marked)[EXCHANGE] = exchange
  return exchange
}

/** What key functions read as a request. Headers cost much on some servers, so they are read late. */
class Subject {
  declare readonly ip: unknown
  declare readonly route: unknown
  readonly request: Request
  readonly [PASSAGE] = undefined

  constructor(request: Request, info: FetchInfo) {
    Object.assign(this, info)
    this.request = request
  }

  get method(): unknown {
    return this.request.method
  }

  get headers(): unknown {
    return this.request.headers
  }

  get socket(): unknown {
    return { remoteAddress: this.ip }
  }

  /** The pattern, as the mount path of an Express router is one: its `route` is an object. */
  get baseUrl(): unknown {
    return this.route
  }
}

/** Collects headers for a response that the application has yet to make. */
export const fetchServer: Server<Exchange> = {
  getHeader: ({ headers }, name) => headers.get(name),
  removeHeader: ({ headers }, name) => headers.delete(name),
  setHeaders({ headers }, list) {
    for (let i = 0; i < list.length; i += 2) headers.set(list[i] as string, list[i + 1] as string)
  },
  areHeadersSent: () => false,
  send(exchange, { status, headers, body }) {
    const ofBody = headers.findIndex((name, i) => i % 2 === 0 && name.startsWith('Content-'))
    fetchServer.setHeaders(exchange, headers.slice(0, ofBody))
    exchange.response = new Response(body, { status, headers: [...exchange.headers] })
    for (let i = ofBody; i < headers.length; i += 2)
      exchange.response.headers.set(headers[i] as string, headers[i + 1] as string)
  },
  abort() {},
  onceFinished(exchange, listener) {
    exchange.signal ??= exchange.subject.request.signal
    exchange.listeners.push(listener)
  },
  onceClosed(exchange, listener) {
    const { closeListeners } = exchange
    exchange.signal ??= exchange.subject.request.signal
    closeListeners.push(listener)
    abandoned?.register(exchange, closeListeners)
    if (exchange.signal.aborted) callAll(closeListeners)
    else exchange.signal.addEventListener('abort', () => callAll(closeListeners), { once: true })
    return () => {
      const index = closeListeners.indexOf(listener)
      if (index >= 0) closeListeners.splice(index, 1)
    }
  },
}

type CloseListeners = Exchange['closeListeners']

/**
 * Ends exchanges that nothing else ends: there was no response, or it was discarded unread, as frameworks do
 * with what a later handler replaces. Some edge runtimes have no `FinalizationRegistry`.
 */
const abandoned =
  typeof FinalizationRegistry === 'undefined' ? undefined : new FinalizationRegistry<CloseListeners>(callAll)

function callAll(closeListeners: CloseListeners): void {
  for (const listener of closeListeners.splice(0)) listener()
}

/** Calls those who wait for the end of an exchange, once. */
export function closeExchange({ closeListeners }: Exchange): void {
  callAll(closeListeners)
}

/** Returns a response with the headers of its exchange, and has the outcome reconciled, once. */
export function finishExchange(exchange: Exchange, response: Response): Response {
  const { subject, headers, signal, listeners } = exchange
  const isOwn = exchange.response === response
  const finished = closeWhenRead(exchange, isOwn ? addTo(response, headers) : withHeaders(response, headers))
  exchange.response = finished
  const due = listeners.splice(0)
  if (due.length === 0 || signal?.aborted) return finished
  const refunds = Promise.all(due.map((listener) => listener(finished.status)))
  subject.waitUntil?.(refunds)
  return finished
}

/** Returns a response that closes its exchange once its body has been read, if anybody waits for that. */
function closeWhenRead(exchange: Exchange, response: Response): Response {
  if (exchange.closeListeners.length === 0) return response
  const isUnread = response.body === null || exchange.subject.request.method === 'HEAD'
  if (response.status >= 200 && !isUnread)
    return new Response(closingStream(response.body as ReadableStream, exchange), response)
  closeExchange(exchange)
  return response
}

/**
 * Returns a stream of the same chunks that closes an exchange once it has been read or cancelled, or has
 * failed. Nothing refers to it but its reader, so it is collected, and the exchange with it, if it has none.
 */
function closingStream(body: ReadableStream, exchange: Exchange): ReadableStream {
  const reader = body.getReader()
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (!done) return controller.enqueue(value)
          controller.close()
        } catch (error) {
          controller.error(error)
        }
        closeExchange(exchange)
      },
      cancel(reason) {
        closeExchange(exchange)
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

/** Responses with headers of an exchange. An application may return the same object for several requests. */
const used = new WeakSet<Response>()

/** Adds the headers that a response does not have: to itself, or to a copy where its own are immutable. */
function withHeaders(response: Response, headers: Map<string, string>): Response {
  if (response.status < 200) return response // an upgrade or an error, which cannot be copied
  if (used.has(response)) {
    const copy = new Response(response.body, response)
    for (const name of headers.keys()) copy.headers.delete(name) // those of another request
    return addTo(copy, headers)
  }
  try {
    return addTo(response, headers)
  } catch {
    return addTo(new Response(response.body, response), headers)
  }
}

function addTo(response: Response, headers: Map<string, string>): Response {
  for (const [name, value] of headers) if (!response.headers.has(name)) response.headers.set(name, value)
  used.add(response)
  return response
}
