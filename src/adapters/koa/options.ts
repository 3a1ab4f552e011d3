import type { Context, ExtendableContext, Next, Response } from 'koa'
import type { RequestOptions } from '../../http/options.js'
import type { Decision } from '../../limiter/decision.js'
import type { LimitWithWindow } from '../../limiter/options.js'
import type { LoginOptions } from '../../login/options.js'

/** Responds to a denied request, by `ctx.status` and `ctx.body`. */
export type OnLimited<Ctx> = (ctx: Ctx, next: Next, decision: Decision) => unknown

/**
 * The options of `rateLimit`. All functions may be async. What they throw goes to Koa's error handling. A
 * `count` function runs after the response, so what it throws is emitted as `refundFailed`.
 */
export type RateLimitOptions<Ctx extends ExtendableContext = Context> = RequestOptions<Ctx, Response> &
  LimitWithWindow & {
    /** Responds to a denied request; the headers are set. Default: text or problem+json, as `Accept` says. */
    onLimited?: OnLimited<Ctx>
  }

/** The options of `loginGuard`. Only `field` or `account` is required. */
export interface LoginGuardOptions<Ctx extends ExtendableContext = Context>
  extends LoginOptions<Ctx, Response> {
  /** Responds to a denied request; the headers are set. Default: text or problem+json, as `Accept` says. */
  onLimited?: OnLimited<Ctx>
}
