/**
 * The API of express-rate-limit 8, on headgate's limiter and stores.
 *
 * @module
 */

export { ValidationError } from './adapters/express-rate-limit/checks.js'
export { ipKeyGenerator } from './adapters/express-rate-limit/ip-key-generator.js'
export { MemoryStore } from './adapters/express-rate-limit/memory-store.js'
export { DAY, HOUR, MINUTE, SECOND } from './adapters/express-rate-limit/numbers.js'
export { rateLimit, rateLimit as default } from './adapters/express-rate-limit/rate-limit.js'
export type {
  AugmentedRequest,
  Client,
  ClientRateLimitInfo,
  DraftHeadersVersion,
  EnabledValidations,
  GivenOptions,
  IncrementCallback,
  IncrementResponse,
  LegacyStore,
  Logger,
  LoggerFn,
  Options,
  RateLimitExceededEventHandler,
  RateLimitInfo,
  RateLimitReachedEventHandler,
  RateLimitRequestHandler,
  Store,
  ValueDeterminingMiddleware,
} from './adapters/express-rate-limit/types.js'
