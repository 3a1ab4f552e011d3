/**
 * The types of a framework: what it calls a handler with, and what it gets back. Options, middleware and key
 * functions are declared once, generic over this.
 */
export interface FrameworkTypes {
  /** What callbacks are called with first: the request, or a context that has it. Limiters charge it. */
  readonly request: unknown
  /** The response, once the handler has run. */
  readonly response: unknown
  /** What is known before the handler runs. Not all frameworks have an object for the response by then. */
  readonly arrival: readonly unknown[]
  /** What the framework calls a handler with. */
  readonly handlerArgs: readonly unknown[]
  /** What a handler returns that responds. */
  readonly handlerResult: unknown
}

/**
 * The types of a framework that creates the response together with the request. Without `Args`, those of any
 * such framework.
 */
export interface ServerTypes<Req, Res, Args extends readonly unknown[] = never> extends FrameworkTypes {
  readonly request: Req
  readonly response: Res
  readonly arrival: readonly [req: Req, res: Res]
  readonly handlerArgs: Args
}
