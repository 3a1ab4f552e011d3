import type { IncomingHttpHeaders } from 'node:http'
import type { Decision } from '../../limiter/decision.js'

/**
 * What requests of Express and Fastify, GraphQL calls and WebSocket messages have in common. Annotate a
 * callback with the request of your platform for more.
 */
export interface NestRequest {
  readonly headers: IncomingHttpHeaders
  readonly ip?: string | undefined
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** The parsed body; of a GraphQL call its arguments, of a WebSocket message its data. */
  readonly body?: unknown
  /** Set by a guard that authenticates. To read it, annotate the request of a callback with its type. */
  readonly user?: unknown
  /** The decision of the last limiter that charged the request. */
  rateLimit?: Decision
}

/** What Nest calls a guard or a filter with (https://docs.nestjs.com/fundamentals/execution-context). */
export interface ArgumentsHost {
  /** `'http'`, `'graphql'`, `'ws'` or `'rpc'`. */
  getType<Type extends string = string>(): Type
  getArgs<Args extends unknown[] = unknown[]>(): Args
}

/** What Nest calls a guard with. */
export interface ExecutionContext extends ArgumentsHost {
  getClass(): object
  getHandler(): object
}

/** What providers are injected by (https://docs.nestjs.com/fundamentals/custom-providers). */
export type InjectionToken = string | symbol | (abstract new (...args: never[]) => unknown)

/** What the parameters of a factory are, in order. */
export type Inject = (InjectionToken | { token: InjectionToken; optional: boolean })[]

/** A provider that a factory makes. */
export interface FactoryProvider {
  provide: InjectionToken
  useFactory: (...dependencies: never[]) => unknown
  inject: Inject
}

/** A module as Nest takes it among `imports` (https://docs.nestjs.com/fundamentals/dynamic-modules). */
export interface DynamicModule<Imports = never[]> {
  module: new (...dependencies: never[]) => object
  global: true
  imports: Imports
  providers: FactoryProvider[]
  exports: InjectionToken[]
}
