import { isIsolate } from '../platform.js'

/**
 * Returns the function that `create` creates. All requests share its state, such as a queue. On isolates,
 * requests cannot wait for one another, so each call has its own state.
 */
export function sharedByRequests<Args extends readonly unknown[], Result>(
  create: () => (...args: Args) => Result,
): (...args: Args) => Result {
  return isIsolate() ? (...args) => create()(...args) : create()
}
