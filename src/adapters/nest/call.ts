import { asResponse, type NestResponse } from './server.js'
import type { ExecutionContext } from './types.js'

/** What a guard is called for: a request, or what stands for one in key functions, and its response. */
export interface Call<Req = object, Res = NestResponse> {
  readonly req: Req
  readonly res: Res
}

/** One call for all guards that stand before a handler, so that the same limiter charges it once. */
const calls = new WeakMap<ExecutionContext, Call>()
/** Those that have no status of their own. */
const withoutStatus = new WeakSet<object>()

/** Returns what a guard is called for; `undefined` where that has no client, as a message of a queue. */
export function callOf(context: ExecutionContext): Call | undefined {
  const [req, res] = context.getArgs()
  const type = context.getType()
  if (type === 'http') return { req: req as object, res: res as NestResponse }
  const call = calls.get(context) ?? createCall(type, context.getArgs())
  if (call !== undefined) calls.set(context, call)
  return call
}

/** Returns whether the response to a request says by its status how it went. */
export function hasStatus(req: object): boolean {
  return !withoutStatus.has(req)
}

function createCall(type: string, args: readonly unknown[]): Call | undefined {
  const call = type === 'graphql' ? graphqlCall(args) : type === 'ws' ? messageCall(args) : undefined
  if (call !== undefined) withoutStatus.add(call.req)
  return call
}

/** What contexts of GraphQL servers hold. */
interface GraphqlContext {
  readonly req?: object
  readonly request?: object
  readonly res?: unknown
  readonly response?: unknown
  readonly reply?: { readonly request?: object }
}

interface FieldInfo {
  readonly fieldName: string
  readonly parentType: { readonly name: string }
}

/** Returns one field of a query: a request may call a field any number of times, by aliases. */
function graphqlCall([, fieldArgs, given, info]: readonly unknown[]): Call {
  const context = (given ?? {}) as GraphqlContext
  const request = context.req ?? context.request ?? context.reply?.request ?? {}
  const { res = context.res ?? context.response ?? context.reply } = request as { readonly res?: unknown }
  const { fieldName, parentType } = info as FieldInfo
  const req = Object.create(request, {
    body: { value: fieldArgs },
    route: { value: { path: `${parentType.name}.${fieldName}` } },
    rateLimit: recordedOn(request),
  })
  return { req, res: asResponse(res) }
}

/** What clients of Socket.IO and of the package ws have. */
interface SocketClient {
  /** The request that opened the connection. Of ws only if the application sets it. */
  readonly request?: { readonly headers?: object; readonly socket?: unknown; readonly user?: unknown }
  readonly data?: { readonly user?: unknown }
  readonly user?: unknown
  /** Of ws. */
  readonly _socket?: unknown
}

/** Returns one message of a client. */
function messageCall([client, body, ...rest]: readonly unknown[]): Call {
  const { request, data, user = data?.user ?? request?.user, _socket } = client as SocketClient
  const req = Object.defineProperty(
    {
      client,
      body,
      headers: request?.headers ?? {},
      socket: request?.socket ?? _socket,
      user,
      route: { path: String(rest.at(-1)) },
    },
    'rateLimit',
    recordedOn(client as object),
  )
  return { req, res: undefined }
}

/** A property that is also set on the request of a call, or on its client, where handlers read it. */
function recordedOn(target: object): PropertyDescriptor {
  let own: unknown
  return {
    enumerable: true,
    get: () => own,
    set(decision: unknown) {
      own = decision
      Object.assign(target, { rateLimit: decision })
    },
  }
}
