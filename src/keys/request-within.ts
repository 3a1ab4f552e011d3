import { type Fields, fieldsOf, isFunction, isObject } from '../util/values.js'
import { asRequest, headerOf, type RequestLike } from './request.js'

/** Where frameworks put a client's IP address, and the headers, in objects that are not requests. */
const ADDRESSES: readonly (readonly [address: string, headers: string])[] = [
  ['handshake.address', 'handshake.headers'], // a socket of Socket.IO
  ['remoteAddress', 'request.headers'], // of engine.io, without headers of node:net
  ['requestContext.identity.sourceIp', 'headers'], // AWS Lambda: REST, WebSocket
  ['requestContext.http.sourceIp', 'headers'], // HTTP APIs, function URLs
  ['info.remoteAddress', 'headers'], // hapi
  ['remoteAddr.hostname', ''], // Deno
  ['context.ip', ''], // Netlify
]

/** Where frameworks put the request itself. */
const REQUESTS = [
  'req', // tRPC, GraphQL servers, @fastify/websocket
  'request', // engine.io, Mercurius, AdonisJS
  'request.request', // a context of AdonisJS
  'extra.request', // a context of graphql-ws
  'node.req', // h3
  'raw.req', // hapi
  'incoming', // @hono/node-server
]

/**
 * Returns the request whose address identifies a subject: the subject itself, or what its framework keeps in
 * it. Returns `undefined` for a subject that has no place for an address.
 */
export function requestWithin(subject: unknown): RequestLike | undefined {
  const request = asRequest(subject)
  if (isConnected(request)) return request
  const fields = fieldsOf(request)
  return honoRequest(fields) ?? requestHeldBy(fields) ?? requestHeldBy(fieldsOf(fields.socket))
}

/** Returns the request that an object of a framework holds, or one made of the IP address that it holds. */
function requestHeldBy(fields: Fields): RequestLike | undefined {
  return addressedRequest(fields) ?? carriedRequest(fields) ?? rawSocket(fields)
}

/**
 * Returns whether this is a request, even if its address is gone or its connection has none. Other objects
 * also have a `socket` or a `stream`, such as WebSocket messages and jobs, but no headers beside it.
 */
function isConnected(request: RequestLike): boolean {
  const { socket, stream, headers } = request
  if (isConnection(socket)) return true
  if (isObject(headers) && ('socket' in request || 'stream' in request)) return true
  if (fieldsOf(stream).destroyed === true) return true
  if (!('ip' in request)) return false
  // Read last, because Express computes it. In JSON from a client, it can be any value.
  const { ip } = request
  return typeof ip === 'string' || (typeof ip !== 'function' && !isFetchRequest(request))
}

function isConnection(socket: unknown): boolean {
  return isObject(socket) && ('remoteAddress' in socket || socket.destroyed === true)
}

/** Returns whether this is a `Request` of the Fetch standard, which holds no address. */
export function isFetchRequest({ headers, url }: Fields | RequestLike): boolean {
  return typeof url === 'string' && isFunction(fieldsOf(headers).get)
}

/** Returns a request with the address that a framework has read. */
function addressedRequest(subject: Fields, headers?: unknown): RequestLike | undefined {
  for (const [address, headersAt] of ADDRESSES) {
    const remoteAddress = valueAt(subject, address)
    if (typeof remoteAddress !== 'string' || remoteAddress === '') continue
    return { headers: headers ?? lowerCased(valueAt(subject, headersAt)), socket: { remoteAddress } }
  }
  return behindAlb(subject)
}

/** Returns the request of a Lambda event from an Application Load Balancer, which appends the client. */
function behindAlb({ requestContext, headers, multiValueHeaders }: Fields): RequestLike | undefined {
  if (fieldsOf(requestContext).elb === undefined) return undefined
  const request = { headers: lowerCased(headers ?? multiValueHeaders) }
  const chain = headerOf(request, 'x-forwarded-for') ?? ''
  return { ...request, socket: { remoteAddress: chain.slice(chain.lastIndexOf(',') + 1).trim() } }
}

function carriedRequest(subject: Fields): RequestLike | undefined {
  for (const path of REQUESTS) {
    const request = valueAt(subject, path)
    if (isObject(request) && isConnected(asRequest(request))) return asRequest(request)
  }
  return undefined
}

/** Returns a request for a connection of node:net, or of the package ws, which hides one. */
function rawSocket(subject: Fields): RequestLike | undefined {
  if ('remoteAddress' in subject) return { socket: subject }
  if ('_socket' in subject) return { socket: subject._socket ?? { destroyed: true } }
  return undefined
}

/** What a context of Hono has. */
interface HonoFields {
  readonly env?: unknown
  readonly req?: unknown
}

/** Returns the request of a Hono context by what its runtime passed to `app.fetch`. */
export function honoRequest({ env, req }: HonoFields): RequestLike | undefined {
  const { raw } = fieldsOf(req)
  if (!isObject(raw) || !isFetchRequest(raw)) return undefined
  const { headers } = raw
  const bindings = fieldsOf(fieldsOf(env).server ?? env) // as Hono's own packages allow
  if (isObject(bindings.incoming)) return { headers, socket: bindings.incoming.socket } // Node.js
  if (isFunction(bindings.requestIP)) return bunRequest(bindings, raw)
  // Only Workers have `cf`, and set the header.
  if ('cf' in raw) return { headers, socket: { remoteAddress: headerOf(raw, 'cf-connecting-ip') } }
  return addressedRequest(bindings, headers)
}

/** Returns the request of a Bun server. The address is gone once the client is. Over TCP, there is a port. */
function bunRequest(server: Fields, raw: Fields): RequestLike {
  const { requestIP, port } = server
  const { address } = fieldsOf(isFunction(requestIP) ? requestIP.call(server, raw) : undefined)
  const isGone = address === undefined && typeof port === 'number'
  return { headers: raw.headers, socket: { remoteAddress: address, destroyed: isGone } }
}

/** Returns headers with names in lower case. Those of Lambda events are as the client wrote them. */
function lowerCased(headers: unknown): unknown {
  if (isFunction(fieldsOf(headers).get)) return headers
  const entries = Object.entries(fieldsOf(headers))
  return Object.fromEntries(
    entries.map(([name, value]) => [name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]),
  )
}

function valueAt(subject: Fields, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => fieldsOf(value)[name], subject)
}
