import type { HeaderList } from '../../http/header-list.js'
import { recordInRoom } from '../../http/recorded-decision.js'
import {
  contentHeaders,
  type DenialResponse,
  type LoginWriter,
  type ResponseWriter,
} from '../../http/response-writer.js'
import { fieldReader } from '../../keys/source-address.js'
import { hasLeft, onceDisconnected } from './connection.js'
import { callClosers, type Exchange, markQuotaHeaders } from './exchange.js'
import { fetchFixes } from './fixes.js'

/** Collects headers for a response that the application has yet to make. */
export const fetchWriter: ResponseWriter<Exchange> = {
  fixes: fetchFixes({
    onDenied: '(subject, decision) and returns a Response',
    count: '(subject, response) => response.status < 500',
    decision: 'limit.decisionOf(request)',
  }),
  reportedReader: fieldReader,
  recordDecision: recordInRoom,
  responseOf({ response }) {
    if (response === undefined) throw new Error('the exchange has no response')
    return response
  },
  headerNames: ({ headers }) => [...headers.keys()],
  getHeader: ({ headers, response }, name) => response?.headers.get(name) ?? headers.get(name),
  removeHeader: ({ headers }, name) => headers.delete(name),
  setHeaders: ({ headers }, list) => setAll(headers, list),
  areHeadersSent: () => false,
  presetStatus: () => () => {}, // the application creates the whole response
  send: (exchange, denial) => sendDenial(exchange, denial, contentHeaders(denial)),
  abort() {},
  onceAborted(exchange, listener) {
    exchange.signal ??= exchange.subject.request.signal
    const { signal } = exchange
    if (signal.aborted) listener()
    else signal.addEventListener('abort', listener, { once: true })
    return () => signal.removeEventListener('abort', listener)
  },
  onceFinished(exchange, listener) {
    exchange.signal ??= exchange.subject.request.signal
    exchange.listeners.push(listener)
  },
  onceEnded(exchange, onEnded, onLeft) {
    const { closeListeners } = exchange
    exchange.signal ??= exchange.subject.request.signal
    if (hasLeft(exchange)) return false
    exchange.signal.addEventListener('abort', onLeft, { once: true })
    closeListeners.push(onEnded, onceDisconnected(exchange, onLeft))
    abandoned?.register(exchange, closeListeners)
    return true
  },
}

/** Returns a writer for logins over one for other requests. */
export function loginWriterOver(writer: ResponseWriter<Exchange>): LoginWriter<Exchange> {
  return {
    ...writer,
    appendHeader({ changes }, name, values) {
      changes.push((response) => appendedTo(response, name, values))
    },
    statusOf: ({ response }) => response?.status ?? 200,
    beforeHeaders(exchange, listener) {
      exchange.headerListeners.push(listener)
    },
  }
}

/** Adds headers to a copy: the application may return the same response to another client. */
function appendedTo(response: Response, name: string, values: readonly string[]): Response {
  if (response.status < 200) return response
  const copy = new Response(response.body, response)
  for (const value of values) copy.headers.append(name, value)
  return copy
}

/** Sets a denial, with these headers for its body, as the response of an exchange. */
export function sendDenial(exchange: Exchange, denial: DenialResponse, ofBody: HeaderList): void {
  const { status, body } = denial
  setAll(exchange.headers, denial.headers)
  const headers = new Map(exchange.headers)
  setAll(headers, ofBody)
  // From a plain object @hono/node-server makes the response without an object for its headers.
  const response = new Response(body, { status, headers: Object.fromEntries(headers) })
  exchange.response = exchange.complete = markQuotaHeaders(response)
}

function setAll(headers: Map<string, string>, list: HeaderList): void {
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i]
    const value = list[i + 1]
    if (name !== undefined && value !== undefined) headers.set(name, value)
  }
}

/**
 * Ends exchanges that nothing else ends: there was no response, or it was discarded unread, as frameworks do
 * with what a later handler replaces. Some edge runtimes have no `FinalizationRegistry`.
 */
const abandoned =
  typeof FinalizationRegistry === 'undefined'
    ? undefined
    : new FinalizationRegistry<Exchange['closeListeners']>(callClosers)
