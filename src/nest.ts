export { RateLimit, type RateLimitDecorator, SkipRateLimit } from './adapters/nest/decorators.js'
export { RateLimitException, type RefusalDetails } from './adapters/nest/exception.js'
export { RateLimitFilter } from './adapters/nest/filter.js'
export { RateLimitGuard } from './adapters/nest/guard.js'
export { RateLimiters } from './adapters/nest/limiters.js'
export { type LoginGuard, type LoginGuardOptions, loginGuard } from './adapters/nest/login-guard.js'
export { RateLimitModule, type RateLimitModuleAsyncOptions } from './adapters/nest/module.js'
export type { ExceptionOptions, NestLimitOptions, RateLimitModuleOptions } from './adapters/nest/options.js'
export type {
  ArgumentsHost,
  DynamicModule,
  ExecutionContext,
  FactoryProvider,
  Inject,
  InjectionToken,
  NestRequest,
} from './adapters/nest/types.js'
export type { HeaderList, Refusal } from './http/server.js'
export * from './http.js'
