import type { ErrorCode } from '../util/codes.js'
import { processWide } from '../util/process-wide.js'
import { wrongKind } from '../util/validate.js'
import { fieldsOf, isFunction, isObject } from '../util/values.js'

/**
 * What headgate's own key functions read from a subject. Every property is optional. Requests of Express,
 * Connect, Fastify and node:http have these properties, and any other object may have them. For other
 * subjects, such as a Fetch `Request`, adapters provide them by `viewAsRequest`.
 */
export interface RequestLike {
  /** The source address, if a framework or a trusted proxy reports it. */
  readonly ip?: unknown
  readonly method?: unknown
  /** The whole URL, if a framework changes `url` for the handlers below a mount path. */
  readonly originalUrl?: unknown
  readonly url?: unknown
  readonly baseUrl?: unknown
  /** Express' route, whose `path` is the pattern that matched. */
  readonly route?: unknown
  /** Fastify's route, whose `url` is the pattern that matched. */
  readonly routeOptions?: unknown
  /** The pattern that matched, in Fastify before 4.10. */
  readonly routerPath?: unknown
  readonly user?: unknown
  /** The parsed body. */
  readonly body?: unknown
  /** A plain object with names in lower case, or `Headers` of the Fetch standard. */
  readonly headers?: unknown
  readonly socket?: unknown
  /** Of an HTTP/2 request. */
  readonly stream?: unknown
  readonly app?: unknown
}

/** What key functions read in place of a subject that is not like a request. */
const VIEW = Symbol.for('headgate.requestView')
/** Whether any subject has a view. In most applications, none has. */
export const views = processWide('requestViews', () => ({ areUsed: false }))

interface Viewed {
  [VIEW]?: RequestLike
}

/** Has key functions read `view` in place of this subject. An entry of a `WeakMap` would cost more. */
export function viewAsRequest(subject: object, view: RequestLike): void {
  const viewed: Viewed = subject
  viewed[VIEW] = view
  views.areUsed = true
}

/** Returns a subject typed as a request. Its properties are `unknown`: check each where you read it. */
export function asRequest(subject: unknown): RequestLike {
  if (typeof subject !== 'object' || subject === null) return {}
  const viewed: Viewed = subject
  return (views.areUsed ? viewed[VIEW] : undefined) ?? subject
}

/**
 * Returns the subject of a key function that reads requests. Throws a `TypeError` for a string or another
 * value that is not an object: all such subjects would share one bucket.
 */
export function requestOf(owner: string, subject: unknown): RequestLike {
  if (isObject(subject)) return asRequest(subject)
  throw notRequest(owner, subject)
}

/** Marks each `NotRequestError`. All copies of this package share the symbol. */
const NOT_REQUEST = Symbol.for('headgate.NotRequestError')

/** Thrown if a limit needs what only requests have, and the subject is not a request. */
export class NotRequestError extends TypeError {
  get [NOT_REQUEST](): true {
    return true
  }
}

/** Returns whether an error is a `NotRequestError`, of this copy of the package or another. */
export function isNotRequestError(error: unknown): boolean {
  return error instanceof Error && NOT_REQUEST in error
}

/** Returns the error for a subject without what a key function of requests reads. */
export function notRequest(owner: string, subject: unknown): NotRequestError {
  const fix =
    "Pass the request, or an object with the fields that the key reads, such as { ip: '203.0.113.7' }. " +
    'For other subjects, set key, such as key: (id) => id.'
  return new NotRequestError(wrongKind(owner, 'subject', 'a request', subject, fix).message)
}

/**
 * Returns a header's value, or `undefined` if the subject has no such header or its value is not a string.
 * `name` is in lower case. Reads the plain object of `node:http`, and objects with a `get` method, such as
 * `Headers` of the Fetch standard.
 */
export function headerOf(subject: unknown, name: string): string | undefined {
  const { headers } = asRequest(subject)
  if (!isObject(headers)) return undefined
  const { get }: { readonly get?: unknown } = headers // a string if a client sent a header of that name
  const value: unknown =
    typeof get === 'function' ? get.call(headers, name) : (headers as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : undefined
}

/**
 * Returns the IP address of the peer, as the socket knows it. Returns `undefined` on a Unix socket. Also
 * does so after the connection has closed, unless the address was read before: reading it makes Node.js
 * cache it. So it is read for each request that has to wait, since the request may be aborted meanwhile.
 */
export function peerAddress(subject: unknown): string | undefined {
  const { socket } = asRequest(subject)
  if (typeof socket !== 'object' || socket === null) return undefined
  const { remoteAddress }: { readonly remoteAddress?: unknown } = socket
  return typeof remoteAddress === 'string' && remoteAddress !== '' ? remoteAddress : undefined
}

/**
 * Returns whether a request that has no address has lost its connection. Its socket or its HTTP/2 stream is
 * destroyed, or it came over TCP: when a client resets the connection before Node.js reads the request, the
 * address is gone and `destroyed` is still false (Node.js 20 to 26). Unix sockets never have an address. An
 * object that names an address in place of a socket had one.
 */
export function isDisconnected(subject: unknown): boolean {
  const request = asRequest(subject)
  const { socket, stream } = request
  if (fieldsOf(stream).destroyed === true || fieldsOf(socket).destroyed === true) return true
  return isTcp(socket) || (!isObject(socket) && 'ip' in request && !request.ip)
}

/** Returns whether a socket is of TCP, by its own address or, if that is also gone, by its server's. */
function isTcp(socket: unknown): boolean {
  const { localAddress, server } = fieldsOf(socket)
  if (typeof localAddress === 'string') return true
  const { address } = fieldsOf(server)
  return isFunction(address) && typeof fieldsOf(address.call(server)).port === 'number'
}

const CODE: ErrorCode = 'HEADGATE_DISCONNECTED'

/**
 * Thrown if the IP address of a request is needed, its connection is gone, and it was not read before.
 * Such a request is denied and not charged: no client reads the response, and a bucket for all of them would
 * be a second quota.
 */
export class DisconnectedError extends Error {
  override readonly name = 'DisconnectedError'
  readonly code = CODE

  constructor() {
    super(
      "headgate: the request's connection has closed, so its IP address is unknown. Pass the decision, or an " +
        "object such as { ip: '203.0.113.7' }.",
    )
  }
}

/** Returns whether an error is a `DisconnectedError`, of this or another copy of this package. */
export function isDisconnectedError(error: unknown): boolean {
  return isObject(error) && error.code === CODE
}
