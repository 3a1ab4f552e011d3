import type { IncomingHttpHeaders } from 'node:http'
import type { Decision } from '../../limiter/decision.js'

/**
 * What requests of Express and Fastify, GraphQL calls and WebSocket messages have in common. For more,
 * annotate a callback with the request of your platform.
 */
export interface NestRequest {
  readonly headers: IncomingHttpHeaders
  readonly ip?: string | undefined
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** The parsed body, the arguments of a GraphQL call, or the data of a WebSocket message. */
  readonly body?: unknown
  /**
   * The user that a guard has authenticated. To read it, annotate the request of a callback with its type.
   */
  readonly user?: unknown
  /** The decision of the last limiter that charged the request. */
  rateLimit?: Decision
}

/** The argument of guards and filters in Nest (https://docs.nestjs.com/fundamentals/execution-context). */
export interface ArgumentsHost {
  /** `'http'`, `'graphql'`, `'ws'` or `'rpc'`. */
  getType<Type extends string = string>(): Type
  getArgs<Args extends unknown[] = unknown[]>(): Args
}

/** The argument of guards in Nest. */
export interface ExecutionContext extends ArgumentsHost {
  getClass(): object
  getHandler(): object
}

/** A token by which Nest injects a provider (https://docs.nestjs.com/fundamentals/custom-providers). */
export type InjectionToken = string | symbol | (abstract new (...args: never[]) => unknown)

/** The tokens of a factory's parameters, in order. */
export type Inject = (InjectionToken | { token: InjectionToken; optional: boolean })[]

/** A provider that a factory makes. */
export interface FactoryProvider {
  provide: InjectionToken
  useFactory: (...dependencies: never[]) => unknown
  inject: Inject
}

/**
 * A module with options, as Nest accepts it in `imports`
 * (https://docs.nestjs.com/fundamentals/dynamic-modules).
 */
export interface DynamicModule<Imports = never[]> {
  module: new (...dependencies: never[]) => object
  global: true
  imports: Imports
  providers: FactoryProvider[]
  exports: InjectionToken[]
}
