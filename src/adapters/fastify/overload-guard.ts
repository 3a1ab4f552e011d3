import type { FastifyReply, FastifyRequest } from 'fastify'
import { overloadWriterOver } from '../../overload/first-byte.js'
import type { OverloadGuardOptions } from '../../overload/options.js'
import { type OverloadControls, overloadSteps } from '../../overload/overload-steps.js'
import { type FastifyTypes, hookOf, type RateLimitHook } from './hook.js'
import { fastifyWriter } from './response-writer.js'

/** A hook that guards a server against too many requests at once. */
export interface OverloadGuard extends RateLimitHook, OverloadControls<FastifyRequest> {}

/**
 * Creates a hook that protects a server from too many requests at once, as `overloadGuard` of `headgate`
 * does: it finds how many may run, and denies the rest with 503.
 *
 * Add it to the application as the first `onRequest` hook, so that it also guards what other hooks do. A
 * request has its place until the first byte of its response. Latencies are compared by method and route.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import fastify from 'fastify'
 * import { overloadGuard } from 'headgate/fastify'
 *
 * const app = fastify()
 * const guard = overloadGuard({ priority: ({ url }) => (url === '/pay' ? 'critical' : 'default') })
 * app.addHook('onRequest', guard)
 * app.addHook('onClose', () => guard.close())
 * app.get('/', () => 'hello')
 * await app.listen({ port: 3000 })
 * ```
 */
export function overloadGuard(options: OverloadGuardOptions<FastifyTypes> = {}): OverloadGuard {
  const writer = overloadWriterOver(fastifyWriter, (reply: FastifyReply) => reply.raw)
  const { steps, controls } = overloadSteps<FastifyRequest, FastifyReply>(options, writer)
  return Object.assign(hookOf(steps, options.onDenied), controls)
}
