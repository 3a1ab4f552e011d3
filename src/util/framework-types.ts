import type { MaybePromise } from './maybe-promise.js'

/**
 * The types of a framework: what it passes to handlers, and what they return. Options, middleware and key
 * functions are generic over these types.
 */
export interface FrameworkTypes {
  /** The first argument of callbacks, which limiters charge: the request, or a context that holds it. */
  readonly request: unknown
  /** The response, once the handler has run. */
  readonly response: unknown
  /**
   * The type of a function that tests a request before its handler runs. Not all frameworks have a response
   * object by then.
   */
  readonly requestTest: (...args: never[]) => MaybePromise<boolean>
  /** The arguments of a handler. */
  readonly handlerArgs: readonly unknown[]
  /** What a handler returns to respond. */
  readonly handlerResult: unknown
}

/** The types of a framework that creates the response together with the request. */
export interface ServerTypes<Req, Res, Args extends readonly unknown[] = readonly [req: Req, res: Res]>
  extends FrameworkTypes {
  readonly request: Req
  readonly response: Res
  readonly requestTest: (req: Req, res: Res) => MaybePromise<boolean>
  readonly handlerArgs: Args
}
