/**
 * Everything in `headgate`, typed for Connect and `node:http`. Needs no types of Express.
 *
 * @module
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { NodeTypes, RateLimitOptions as Options } from './http/options.js'
import * as keys from './keys/by-user.js'
import {
  candidateLimits as limiterCandidateLimits,
  type MakeCandidateLimits,
} from './limiter/candidate/option.js'
import type { LoginGuardOptions as GuardOptions } from './login/options.js'
import type { OverloadGuardOptions as OverloadOptions } from './overload/options.js'

export { responseCost } from './http/actual-cost/option.js'
export { requestDelay } from './http/delay/option.js'
export { type ResponseParts, responseFor } from './http/denial-response.js'
export { type RateLimited, type RateLimitMiddleware, rateLimit } from './http/rate-limit.js'
export { byField } from './keys/by-field.js'
export { byHeader } from './keys/by-header.js'
export { byIp } from './keys/by-ip.js'
export { byRoute } from './keys/by-route.js'
export type { KeyFunction } from './keys/key-types.js'
export { foldName } from './keys/name.js'
export { adjustments } from './limiter/adjust-limiter.js'
export type { CandidateMessage } from './limiter/candidate/candidate.js'
export type { CandidateReport } from './limiter/candidate/candidate-report.js'
export type { DecisionMessage } from './limiter/charge-limits.js'
export { concurrency } from './limiter/concurrency/policy.js'
export { createLimiter } from './limiter/create-limiter.js'
export type { Decision, PartDecision } from './limiter/decision.js'
export type { LimiterDescription } from './limiter/description.js'
export type { FailureMessage, LimiterEvents } from './limiter/events.js'
export type { Health } from './limiter/health.js'
export { identitiesOf } from './limiter/identities.js'
export type { Limiter, MiddlewareLimiter } from './limiter/limiter.js'
export { logEvents } from './limiter/log-events.js'
export type { LimiterOptions } from './limiter/options.js'
export type { SettingsChange, SettingsDocument, SettingsOverride } from './limiter/settings-document.js'
export { waitFor } from './limiter/waiting/wait-with.js'
export { type LoginGuard, loginGuard } from './login/login-guard.js'
export type { SecurityEvent } from './login/security-events.js'
export { OverloadError } from './overload/overload-error.js'
export { type OverloadGuard, overloadGuard } from './overload/overload-guard.js'
export type { OverloadStatus } from './overload/process-guard.js'
export { leased } from './pipe/lease/leased.js'
export type { StoreMessage } from './pipe/store-channel.js'
export { ban } from './policies/ban.js'
export { consecutive } from './policies/consecutive.js'
export { fixedWindow } from './policies/fixed-window.js'
export type { Policy } from './policies/policy.js'
export { quota } from './policies/quota.js'
export { slidingLog } from './policies/sliding-log.js'
export { slidingWindow } from './policies/sliding-window.js'
export { tokenBucket } from './policies/token-bucket.js'
export { SettingsConflictError } from './settings/conflict.js'
export { type SharedSettings, sharedSettings } from './settings/shared-settings.js'
export type { MemoryStore } from './stores/memory/contract.js'
export { dumpMemory } from './stores/memory/dump/dump-memory.js'
export { restoreMemory } from './stores/memory/dump/restore-memory.js'
export { memoryStore } from './stores/memory/memory-store.js'
export type { Store } from './stores/store.js'
export { StoreError } from './stores/store-error.js'
export type { Duration } from './util/durations.js'

/**
 * The options of `rateLimit`. All functions may be async. If one throws, the error goes to `next`. `count`
 * and `actualCost` run after the response, so their errors are emitted as `refundFailed`.
 */
export type RateLimitOptions<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
> = Options<NodeTypes<Req, Res>>

/** The options of `loginGuard`. Only `field` or `account` is required. */
export type LoginGuardOptions<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
> = GuardOptions<NodeTypes<Req, Res>>

/** The options of `overloadGuard`. All have defaults. */
export type OverloadGuardOptions<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
> = OverloadOptions<NodeTypes<Req, Res>>

/**
 * Creates a key that identifies a client by the authenticated user.
 *
 * The user is what `get` returns, or the first of `req.user.id`, `.sub` and `.username` that exists. Without
 * a user, the key `anonymous` identifies the client, by default `byIp()`. A user never shares a bucket with
 * an anonymous client, even if both identities are the same string.
 *
 * Run the limiter after authentication. Otherwise all clients are anonymous.
 *
 * @example
 * ```ts
 * import type { IncomingMessage } from 'node:http'
 * import { byUser, rateLimit } from 'headgate/http'
 *
 * type SignedIn = IncomingMessage & { session?: { userId: string } }
 * const key = byUser((req: SignedIn) => req.session?.userId)
 * const api = rateLimit({ limit: 100, window: '1m', key })
 * ```
 * @function
 */
export const byUser: keys.MakeByUser<NodeTypes> = keys.byUser

/**
 * Creates limits to try beside those in force, for the option `candidate`. They deny no request, and
 * `limiter.candidateReport()` says what they would have done. A limit without `key`, `cost` or `skip`
 * inherits it from the limit in force with the same name. If there is none, it inherits it from the first
 * limit.
 *
 * @example
 * ```ts
 * import { candidateLimits, rateLimit, slidingWindow } from 'headgate/http'
 *
 * const api = rateLimit({
 *   limit: 1000,
 *   window: '1h',
 *   candidate: candidateLimits({ policy: slidingWindow({ limit: 500, window: '1h' }) }),
 * })
 * ```
 * @function
 */
export const candidateLimits: MakeCandidateLimits<NodeTypes> = limiterCandidateLimits
