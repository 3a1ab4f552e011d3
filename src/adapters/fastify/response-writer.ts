import type { FastifyReply } from 'fastify'
import { nodeFixes } from '../../http/framework-fixes.js'
import { keepUncacheable } from '../../http/keep-uncacheable.js'
import { writerOver } from '../../http/response-writer.js'

const FIXES = nodeFixes({
  onDenied: '(request, reply, decision)',
  count: '(request, reply) => reply.statusCode < 500',
  decision: 'request.rateLimit',
})

/**
 * The replies of Fastify. Headers and denials go through the reply, so that `onSend` hooks see them. Fastify
 * itself computes `Content-Length`, since such hooks may change the body.
 */
export const fastifyWriter = writerOver<FastifyReply>(FIXES, (reply) => reply.raw, {
  headerNames: (reply) => Object.keys(reply.getHeaders()), // those of the raw response also
  getHeader: (reply, name) => reply.getHeader(name),
  removeHeader(reply, name) {
    reply.removeHeader(name)
    reply.raw.removeHeader(name) // set by middleware of Express, as with @fastify/middie
  },
  setHeaders,
  send(reply, { status, headers, contentType, body }) {
    setHeaders(reply, headers)
    keepUncacheable(reply.raw)
    const isHead = reply.raw.req?.method === 'HEAD' // some servers throw for a body
    if (isHead) reply.header('content-length', Buffer.byteLength(body))
    // Without a serializer Fastify adds a charset to problem+json.
    reply
      .code(status)
      .header('Content-Type', contentType)
      .serializer(String)
      .send(isHead ? '' : body)
  },
})

function setHeaders(reply: FastifyReply, headers: readonly string[]): void {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]
    if (name !== undefined) reply.header(LOWER_CASE[name] ?? name, headers[i + 1])
  }
}

/** The names in the case that Fastify keeps them in. It would spell them anew for each response. */
const LOWER_CASE: Readonly<Record<string, string>> = {
  'X-RateLimit-Limit': 'x-ratelimit-limit',
  'X-RateLimit-Remaining': 'x-ratelimit-remaining',
  'X-RateLimit-Reset': 'x-ratelimit-reset',
  'RateLimit-Policy': 'ratelimit-policy',
  RateLimit: 'ratelimit',
}
