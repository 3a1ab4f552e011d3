/**
 * A module, a guard and decorators for NestJS, on Express and on Fastify.
 *
 * @module
 */

export { RateLimit, SkipRateLimit } from './adapters/nest/decorators.js'
export { RateLimitException } from './adapters/nest/exception.js'
export { RateLimitFilter } from './adapters/nest/filter.js'
export { RateLimitGuard } from './adapters/nest/guard.js'
export { RateLimiters } from './adapters/nest/limiters.js'
export { type LoginGuard, type LoginGuardOptions, loginGuard } from './adapters/nest/login-guard.js'
export { RateLimitModule } from './adapters/nest/module.js'
export type { RateLimitModuleOptions } from './adapters/nest/options.js'
export {
  type OverloadGuard,
  type OverloadGuardOptions,
  overloadGuard,
} from './adapters/nest/overload-guard.js'
export * from './http.js'
