import type { FastifyReply, FastifyRequest } from 'fastify'
import { guardSteps, type LoginControls, OWNER } from '../../login/guard-steps.js'
import type { LoginOptions } from '../../login/options.js'
import { hookOf, type OnLimited, type RateLimitHook } from './hook.js'
import { fastifyServer } from './server.js'

/** The options of `loginGuard`. Only `field` or `account` is required. */
export interface LoginGuardOptions extends LoginOptions<FastifyRequest, FastifyReply> {
  /** Responds to a denied request; the headers are set. Default: text or problem+json, as `Accept` says. */
  onLimited?: OnLimited
}

/** A hook that guards a login. Several routes behind one guard share its limits. */
export interface LoginGuard extends RateLimitHook, LoginControls<FastifyRequest> {}

/**
 * Creates a `preHandler` hook that stops password guessing and lets real users in, as `loginGuard` of
 * `headgate` does. A status below 300 is a success, unless `succeeded`, `failureRedirect` or `reportSuccess`
 * says otherwise.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 */
export function loginGuard(options: LoginGuardOptions): LoginGuard {
  const { steps, controls } = guardSteps<FastifyRequest, FastifyReply>(options, fastifyServer)
  return Object.assign(hookOf(OWNER, steps, options.onLimited), controls)
}
