import { fieldsOf } from '../../util/values.js'
import { asResponse, type NestResponse } from './response-writer.js'
import type { ExecutionContext } from './types.js'

/** What a guard is called for: a request, or what stands for one in key functions, and its response. */
export interface HandlerCall<Req = object, Res = NestResponse> {
  readonly req: Req
  readonly res: Res
}

/** One call for all guards in front of a handler, so that the same limiter charges it once. */
const calls = new WeakMap<ExecutionContext, HandlerCall>()
/** Those without their own status. */
const withoutStatus = new WeakSet<object>()

/** Returns what a guard is called for; `undefined` if that has no client, as a message of a queue. */
export function callOf(context: ExecutionContext): HandlerCall | undefined {
  const type = context.getType()
  if (type === 'http') {
    const [req, res] = context.getArgs<[object, NestResponse]>()
    return { req, res }
  }
  const call = calls.get(context) ?? createCall(type, context.getArgs())
  if (call !== undefined) calls.set(context, call)
  return call
}

/** Returns whether the response to a request says by its status how it went. */
export function hasStatus(req: object): boolean {
  return !withoutStatus.has(req)
}

function createCall(type: string, args: readonly unknown[]): HandlerCall | undefined {
  const call = type === 'graphql' ? graphqlCall(args) : type === 'ws' ? messageCall(args) : undefined
  if (call !== undefined) withoutStatus.add(call.req)
  return call
}

interface GraphqlRequest {
  /** Of graphql-ws, whose context stands in place of a request: the one that opened the connection. */
  readonly extra?: { readonly request?: object }
  readonly res?: unknown
}

interface GraphqlContext extends GraphqlRequest {
  readonly req?: GraphqlRequest
  readonly request?: GraphqlRequest
  readonly response?: unknown
  readonly reply?: { readonly request?: GraphqlRequest }
}

interface FieldInfo {
  readonly fieldName: string
  readonly parentType: { readonly name: string }
  /** Where the field is in the response; the path before it is `undefined` at the root. */
  readonly path?: { readonly prev?: unknown }
}

/**
 * Returns one field of a query: a request may call a field any number of times, by aliases. A resolver is
 * called with (parent, args, context, info), that of a federated reference with (reference, context, info).
 */
function graphqlCall(args: readonly unknown[]): HandlerCall {
  const infoAt = args.findLastIndex(isFieldInfo)
  const [body, context] = args.slice(0, infoAt).slice(-2) as [unknown, GraphqlContext | undefined]
  const { fieldName, parentType } = args[infoAt] as FieldInfo
  const { req, request, reply, extra, res = reply } = context ?? {}
  const carrier = req ?? request ?? reply?.request ?? {}
  const opened = (carrier.extra ?? extra)?.request ?? carrier
  const call = Object.create(opened, {
    body: { value: body },
    method: { value: undefined }, // a client may choose between GET and POST
    route: { value: { path: `${parentType.name}.${fieldName}` } },
    rateLimit: recordedOn(carrier),
  })
  return { req: call, res: asResponse(carrier.res ?? res ?? context?.response) }
}

/** Returns whether this is a field of an object in a GraphQL response, as those of `@ResolveField()`. */
export function isNestedField(context: ExecutionContext): boolean {
  if (context.getType() !== 'graphql') return false
  return context.getArgs().findLast(isFieldInfo)?.path?.prev !== undefined
}

function isFieldInfo(value: unknown): value is FieldInfo {
  const { fieldName, parentType } = fieldsOf(value)
  return typeof fieldName === 'string' && typeof fieldsOf(parentType).name === 'string'
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

function messageCall([client, body, ...rest]: readonly unknown[]): HandlerCall {
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
  let recorded: unknown
  return {
    enumerable: true,
    get: () => recorded,
    set(decision: unknown) {
      recorded = decision
      Object.assign(target, { rateLimit: decision })
    },
  }
}
