import type { MaybePromise } from './maybe-promise.js'

/**
 * The types of a framework: what it calls a handler with, and what it gets back. Options, middleware and key
 * functions are declared once, generic over this.
 */
export interface FrameworkTypes {
  /** What callbacks are called with first: the request, or a context that has it. Limiters charge it. */
  readonly request: unknown
  /** The response, once the handler has run. */
  readonly response: unknown
  /** A test of a request before its handler runs. Not all frameworks have an object for the response then. */
  readonly requestTest: (...args: never[]) => MaybePromise<boolean>
  /** What the framework calls a handler with. */
  readonly handlerArgs: readonly unknown[]
  /** What a handler returns that responds. */
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
