import { wrongUse } from '../util/validate.js'
import { fieldsOf, isFunction, isObject } from '../util/values.js'

/** What is passed in place of options by mistake: a method that it has, what it is, and the fix. */
const MISPLACED = [
  ['clampToNow', 'a policy', 'Write { policy: … }.'],
  ['forget', 'a limiter', 'Write { store: … }.'],
  ['apply', 'a store', 'Write { store: … }.'],
  ['then', 'a promise', 'Await it first.'],
  ['addHook', 'a Fastify application', "Register the plugin rateLimit from 'headgate/fastify'."],
] as const

/** The properties by which requests and contexts of frameworks are known. */
const OF_REQUESTS = ['headers', 'req', 'event']

/**
 * Throws a `TypeError` for a value that was given to a factory in place of its options. A framework that was
 * given the factory itself calls it with a request.
 */
export function refuseMisplaced(owner: string, value: unknown): void {
  const fields = fieldsOf(value)
  const [, misplaced, misplacedFix] = MISPLACED.find(([method]) => isFunction(fields[method])) ?? []
  const isRequest = OF_REQUESTS.some((name) => isObject(fields[name])) || isFunction(fields.getHandler)
  const what = misplaced ?? (isRequest ? 'a request' : undefined)
  if (what === undefined) return
  const fix = misplacedFix ?? `Mount or pass ${owner}(…), not ${owner} itself.`
  throw wrongUse(owner, `options must be an options object, got ${what}`, fix)
}
