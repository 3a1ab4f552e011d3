import { hasLeft } from './connection.js'
import { closeExchange, type Exchange, hasQuotaHeaders, markQuotaHeaders } from './exchange.js'

/** Returns a response with the headers of its exchange, and has the outcome reconciled, once. */
export function finishExchange(exchange: Exchange, response: Response): Response {
  const { subject, headers, changes, signal, listeners } = exchange
  const isComplete = exchange.complete === response
  exchange.response = response
  const work = callAll(exchange.headerListeners)
  let limited = isComplete ? response : withHeaders(response, headers)
  for (const change of drain(changes)) limited = change(limited)
  const finished = closeWhenRead(exchange, limited)
  exchange.response = finished
  exchange.complete = finished
  const due = drain(listeners)
  if (!signal?.aborted) work.push(...due.map((listener) => listener(finished.status)))
  if (work.length > 0) subject.waitUntil?.(Promise.all(work))
  return finished
}

/** Ends an exchange whose handler threw an error, to which the framework responds with a 500. */
export function failExchange(exchange: Exchange | undefined): void {
  if (exchange === undefined) return
  exchange.response = new Response(null, { status: 500 })
  const work = callAll(exchange.headerListeners)
  if (work.length > 0) exchange.subject.waitUntil?.(Promise.all(work))
  closeExchange(exchange)
}

function callAll(listeners: (() => unknown)[]): unknown[] {
  return drain(listeners).map((listener) => listener())
}

const NONE: readonly never[] = []

/** Returns what a list has, and empties it. Most lists of an exchange are empty. */
function drain<Item>(list: Item[]): readonly Item[] {
  return list.length === 0 ? NONE : list.splice(0)
}

/** Returns a response that closes its exchange once its body has been read, if anybody waits for that. */
function closeWhenRead(exchange: Exchange, response: Response): Response {
  if (exchange.closeListeners.length === 0) return response
  const { body, status } = response
  const isRead = body !== null && exchange.subject.request.method !== 'HEAD'
  if (status >= 200 && isRead && !hasLeft(exchange))
    return new Response(closingStream(body, exchange), response)
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

/** Adds the headers that a response does not have: to itself, or to a copy if its own are immutable. */
function withHeaders(response: Response, headers: Map<string, string>): Response {
  if (response.status < 200) return response // an upgrade or an error, which cannot be copied
  if (hasQuotaHeaders(response)) {
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
  return markQuotaHeaders(response)
}
