import type { Context, ExtendableContext, Next, Response } from 'koa'
import type { RequestOptions } from '../../http/options.js'
import type { Decision } from '../../limiter/decision.js'
import type { LoginOptions } from '../../login/options.js'

/** Answers a limited request, by `ctx.body`. */
export type OnLimited<Ctx> = (ctx: Ctx, next: Next, decision: Decision) => unknown

/**
 * The options of `rateLimit`. All functions may be async. What they throw goes to Koa's error handling; what
 * a `count` function throws comes when the response is over, and is emitted as `refundFailed`.
 */
export interface RateLimitOptions<Ctx extends ExtendableContext = Context>
  extends RequestOptions<Ctx, Response> {
  /** Answers a limited request; the headers are set. Default: text or problem+json, as `Accept` says. */
  onLimited?: OnLimited<Ctx>
}

/** The options of `loginGuard`. Only `field` or `account` is required. */
export interface LoginGuardOptions<Ctx extends ExtendableContext = Context>
  extends LoginOptions<Ctx, Response> {
  /** Answers a limited request; the headers are set. Default: text or problem+json, as `Accept` says. */
  onLimited?: OnLimited<Ctx>
}
