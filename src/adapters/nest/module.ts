import type { MaybePromise } from '../../util/maybe-promise.js'
import { RateLimitFilter } from './filter.js'
import { RateLimitGuard } from './guard.js'
import { RateLimiters } from './limiters.js'
import { declareParameters } from './metadata.js'
import type { RateLimitModuleOptions } from './options.js'
import type { DynamicModule, FactoryProvider, Inject, NestRequest } from './types.js'

/** Options of `RateLimitModule.forRootAsync`: where the module's options come from. */
export interface RateLimitModuleAsyncOptions<Req, Res, Imports> {
  /** The modules that export what is injected. */
  imports?: Imports
  inject?: Inject
  /** Returns the module's options, or a promise of them. Called with what is injected. */
  useFactory: (...dependencies: never[]) => MaybePromise<RateLimitModuleOptions<Req, Res>>
}

const OPTIONS = 'headgate:options'

/**
 * The module that limits requests. Import it once, in the root module. Its exports are available in all
 * modules.
 *
 * @example
 * ```ts
 * import { Module } from '@nestjs/common'
 * import { RateLimitModule } from 'headgate/nest'
 *
 * @Module({ imports: [RateLimitModule.forRoot({ limit: 100, window: '1m' })] })
 * export class AppModule {}
 * ```
 */
export class RateLimitModule {
  /**
   * Limits all handlers together by one limiter with these options, except those with `@RateLimit(…)` or
   * `@SkipRateLimit()`. Without `limit`, `policy` or `limits`, only handlers with `@RateLimit(…)` are
   * limited.
   *
   * Nest throws a `TypeError` for wrong options when the application starts, with the fix in the message.
   */
  static forRoot<Req extends object = NestRequest, Res = unknown>(
    options: RateLimitModuleOptions<Req, Res>,
  ): DynamicModule {
    return moduleWith({ provide: OPTIONS, useFactory: () => options, inject: [] }, [])
  }

  /**
   * Does the same as `forRoot`, with options from a factory, such as those with a store that is a provider.
   */
  static forRootAsync<Req extends object = NestRequest, Res = unknown, Imports extends unknown[] = never[]>({
    imports,
    inject = [],
    useFactory,
  }: RateLimitModuleAsyncOptions<Req, Res, Imports>): DynamicModule<Imports> {
    return moduleWith({ provide: OPTIONS, useFactory, inject }, imports ?? ([] as unknown as Imports))
  }

  readonly #limiters: RateLimiters

  constructor(limiters: RateLimiters) {
    this.#limiters = limiters
  }

  /** Closes all limiters. Nest calls it when the application shuts down. */
  onApplicationShutdown(): Promise<void> {
    return this.#limiters.close()
  }
}

function moduleWith<Imports>(options: FactoryProvider, imports: Imports): DynamicModule<Imports> {
  // Not when this file is loaded: Nest, which loads reflect-metadata, may be loaded after it.
  declareParameters(RateLimitModule, [RateLimiters])
  declareParameters(RateLimitGuard, [RateLimiters])
  return {
    module: RateLimitModule,
    global: true,
    imports,
    providers: [options, LIMITERS, GUARD, FILTER],
    exports: [RateLimiters],
  }
}

const LIMITERS: FactoryProvider = {
  provide: RateLimiters,
  useFactory: (options: RateLimitModuleOptions<never, never>) => new RateLimiters(options),
  inject: [OPTIONS],
}

/** Nest applies what is provided by these tokens to all handlers. */
const GUARD: FactoryProvider = {
  provide: 'APP_GUARD',
  useFactory: (limiters: RateLimiters) =>
    limiters.isGlobal ? new RateLimitGuard(limiters) : { canActivate: () => true },
  inject: [RateLimiters],
}
const FILTER: FactoryProvider = {
  provide: 'APP_FILTER',
  useFactory: () => new RateLimitFilter(),
  inject: [],
}
