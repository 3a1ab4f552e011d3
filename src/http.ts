export type { Adjustable, AdjustmentOptions, Adjustments } from './features/adjustments.js'
export type { CandidateMessage } from './features/candidate/candidate.js'
export type {
  CandidateLimitReport,
  CandidateReport,
  DeniedClient,
} from './features/candidate/candidate-report.js'
export { createLimiter } from './features/create-limiter.js'
export type { DecisionMessage } from './features/decision-report.js'
export type { Health } from './features/health.js'
export { type ChargedIdentity, identitiesOf } from './features/identities.js'
export type { Limiter } from './features/limiter.js'
export { type Logger, logEvents, type WriteEntry } from './features/log-events.js'
export type { WaitOptions } from './features/waiting/wait-options.js'
export type { Count } from './http/after-response.js'
export { type Answer, type AnswerOptions, answerFor } from './http/answer.js'
export type { DelayOptions } from './http/delay.js'
export type { DenialFigures, DenialReason } from './http/denial-body.js'
export type { HeaderStyle, ResetFormat } from './http/headers.js'
export type { Next, OnLimited, RateLimitOptions, RequestOptions } from './http/options.js'
export { type RateLimited, type RateLimitMiddleware, rateLimit } from './http/rate-limit.js'
export { type ByFieldOptions, byField } from './keys/by-field.js'
export { byHeader } from './keys/by-header.js'
export { type ByIpOptions, byIp } from './keys/by-ip.js'
export { byRoute } from './keys/by-route.js'
export { type ByUserOptions, byUser } from './keys/by-user.js'
export type { TrustProxy } from './keys/forwarded-address.js'
export type { KeyFunction, KeyValue, RequestLike } from './keys/key.js'
export { foldName } from './keys/name.js'
export type { AccessOptions, Mode } from './limiter/access-rules.js'
export type { Decision, DecisionSource, PartDecision } from './limiter/decision.js'
export type { LimiterEvents } from './limiter/events.js'
export type {
  CandidateOptions,
  LimiterFields,
  LimiterOptions,
  LimitOptions,
  LimitWithWindow,
  StoreErrorChoice,
} from './limiter/options.js'
export type { DeviceCookieOptions, DeviceEpoch } from './login/device-options.js'
export type { LoginControls } from './login/guard-steps.js'
export { type LoginGuard, loginGuard } from './login/login-guard.js'
export type { LoginGuardOptions, LoginOptions, LoginRetryAfter } from './login/options.js'
export type { LoginPolicies } from './login/policies.js'
export type { LoginEvents, SecurityEvent } from './login/security-events.js'
export type { BreakerState } from './pipe/breaker-state.js'
export { type BanOptions, ban } from './policies/ban.js'
export { type ConcurrencyOptions, concurrency } from './policies/concurrency.js'
export { type ConsecutiveOptions, consecutive } from './policies/consecutive.js'
export { type FixedWindowOptions, fixedWindow } from './policies/fixed-window.js'
export { type SlidingWindowOptions, slidingWindow } from './policies/sliding-window.js'
export type { PolicySpec } from './policies/spec.js'
export { type TokenBucketOptions, tokenBucket } from './policies/token-bucket.js'
export type * from './stores/contract.js'
export { leased } from './stores/leased/leased.js'
export type { LeaseOptions } from './stores/leased/options.js'
export type { MemoryStore } from './stores/memory/contract.js'
export { type MemoryStoreOptions, memoryStore } from './stores/memory/memory-store.js'
export type {
  StoreBatch,
  StoreCall,
  StoreClose,
  StoreMessage,
  StoreStateChange,
} from './stores/shared/store-channel.js'
export { StoreError } from './stores/store-error.js'
export type { Duration } from './util/durations.js'
export type { MaybePromise } from './util/maybe-promise.js'
