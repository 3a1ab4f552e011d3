import type { ServerResponse } from 'node:http'
import type { Context } from 'hono'
import { keepUncacheable } from '../../http/keep-uncacheable.js'
import { type LoginWriter, type ResponseWriter, seeBody } from '../../http/response-writer.js'
import { fieldsOf, isFunction } from '../../util/values.js'
import type { Exchange } from '../fetch/exchange.js'
import { fetchFixes } from '../fetch/fixes.js'
import { fetchWriter, loginWriterOver, sendDenial } from '../fetch/response-writer.js'
import type { HonoInfo } from './context.js'

type Status = Parameters<Context['status']>[0]

/** The responses of Hono. Headers that were set on the context override those of a denial. */
export const honoWriter: ResponseWriter<Exchange> = {
  ...fetchWriter,
  fixes: fetchFixes({
    onDenied: '(c, decision) and returns a Response',
    count: '(c, response) => response.status < 500',
    decision: "c.get('rateLimit')",
  }),
  headerNames: (exchange) => [...contextOf(exchange).res.headers.keys()],
  removeHeader(exchange, name) {
    fetchWriter.removeHeader(exchange, name)
    contextOf(exchange).header(name, undefined)
  },
  presetStatus(exchange, status) {
    removeOverwritten(exchange)
    const c = contextOf(exchange)
    c.status(status as Status)
    return () => c.status(200) // otherwise the response of `app.onError` would have the status of a denial
  },
  send(exchange, denial) {
    removeOverwritten(exchange)
    const outgoing = outgoingOf(exchange)
    if (outgoing !== undefined) keepUncacheable(outgoing)
    // Hono copies the headers to a response that replaces this one. Its length would cut off the new body.
    sendDenial(exchange, denial, ['Content-Type', denial.contentType])
  },
}

/** The responses of Hono to logins, whose bodies are seen where they can be. */
export function honoLoginWriter(): LoginWriter<Exchange> {
  return {
    ...loginWriterOver(honoWriter),
    seeBody(exchange, see) {
      const outgoing = outgoingOf(exchange)
      if (outgoing !== undefined) seeBody(outgoing, see)
    },
  }
}

/**
 * Returns the response of node:http that @hono/node-server will send; `undefined` elsewhere, where outer
 * middleware may replace the whole response, and with it the headers of a denial.
 */
function outgoingOf(exchange: Exchange): ServerResponse | undefined {
  const { outgoing } = fieldsOf(contextOf(exchange).env)
  return isFunction(fieldsOf(outgoing).writeHead) ? (outgoing as ServerResponse) : undefined
}

function contextOf({ subject }: Exchange): Context {
  return (subject as unknown as HonoInfo<Context>).context
}

/** Removes from the context what the exchange will set. */
function removeOverwritten(exchange: Exchange): void {
  for (const name of exchange.headers.keys()) contextOf(exchange).header(name, undefined)
}
