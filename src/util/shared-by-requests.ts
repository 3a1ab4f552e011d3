import { isIsolate } from '../platform.js'

/**
 * Returns the function that `create` creates, whose state all requests share, such as a queue. On isolates,
 * where requests cannot wait for one another, each call has its own.
 */
export function sharedByRequests<Args extends readonly unknown[], Result>(
  create: () => (...args: Args) => Result,
): (...args: Args) => Result {
  return isIsolate() ? (...args) => create()(...args) : create()
}
