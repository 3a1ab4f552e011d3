import type { Http2Server } from 'node:http2'
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction, onRequestHookHandler } from 'fastify'
import { checkCaller } from '../../http/check-caller.js'
import { SEND_DEFAULT } from '../../http/deny-request.js'
import type { RateLimitOptions } from '../../http/options.js'
import { runSteps } from '../../http/rate-limit.js'
import { type RequestSteps, requestSteps } from '../../http/request-steps.js'
import type { Decision } from '../../limiter/decision.js'
import type { MiddlewareLimiter } from '../../limiter/limiter.js'
import type { ServerTypes } from '../../util/framework-types.js'
import { isPromise, type MaybePromise, thenMaybe } from '../../util/maybe-promise.js'
import { fieldsOf, isObject } from '../../util/values.js'
import { fastifyWriter } from './response-writer.js'

/** The types of Fastify: its requests and replies. */
export type FastifyTypes = ServerTypes<
  FastifyRequest,
  FastifyReply,
  [request: FastifyRequest, reply: FastifyReply]
>

/**
 * The options of `rateLimitHook`. All functions may be async. If one throws, the error goes to Fastify's
 * error handler. `count` and `actualCost` run after the response, so their errors are emitted as
 * `refundFailed`.
 */
export type RateLimitHookOptions = RateLimitOptions<FastifyTypes>

/** A request and its reply over HTTP/2. Fastify 4 and 5 order the parameters of `FastifyReply` differently. */
type Http2Call = Parameters<onRequestHookHandler<Http2Server>>

/**
 * A hook for `onRequest`, `preValidation` or `preHandler`, over HTTP/1 or HTTP/2, with its limiter as a
 * property.
 */
export interface RateLimitHook {
  (
    request: FastifyRequest | Http2Call[0],
    reply: FastifyReply | Http2Call[1],
    done: HookHandlerDoneFunction,
  ): void
  readonly limiter: MiddlewareLimiter<FastifyRequest>
}

/**
 * Creates a hook that limits single routes, or all routes of a context by `app.addHook`. It works with and
 * without the plugin, and responds to denied requests as `rateLimit` does.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import fastify from 'fastify'
 * import { rateLimitHook } from 'headgate/fastify'
 *
 * const app = fastify()
 * const limitUploads = rateLimitHook({ limit: 10, window: '1h' })
 * app.post('/uploads', { onRequest: limitUploads }, () => 'stored')
 * await app.listen({ port: 3000 })
 * ```
 */
export function rateLimitHook(options: RateLimitHookOptions): RateLimitHook {
  return hookFrom('rateLimitHook', options)
}

/** Creates a hook; `owner` is the function that errors name. */
export function hookFrom(owner: string, options: RateLimitHookOptions): RateLimitHook {
  return hookOf(requestSteps(owner, options, fastifyWriter), options.onDenied)
}

export function hookOf(
  steps: RequestSteps<FastifyRequest, FastifyReply>,
  onDenied: RateLimitHookOptions['onDenied'],
): RateLimitHook {
  const { owner, limiter } = steps
  let isChecked = false

  function limitRequest(request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
    if (!isChecked) isChecked = checkCaller(owner, '(request, reply, done)', isObject(fieldsOf(request).raw))
    const onDenial = onDenied && ((decision: Decision) => respond(request, reply, decision))
    runSteps(steps, request, reply, onDenial, done)
  }

  /** Sends the payload that `onDenied` returns. An async function that returns none has not responded. */
  function respond(request: FastifyRequest, reply: FastifyReply, decision: Decision): MaybePromise<unknown> {
    const result = onDenied?.(request, reply, decision)
    if (result === reply) return undefined // a reply is a thenable that resolves once it is sent
    return thenMaybe(result, (payload) => {
      if (reply.sent) return undefined
      if (payload === undefined) return isPromise(result) ? SEND_DEFAULT : undefined
      reply.send(payload)
      return undefined
    })
  }

  return Object.assign(limitRequest, { limiter }) as RateLimitHook // the steps read what both protocols have
}
