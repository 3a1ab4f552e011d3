import { wrongUse } from '../util/validate.js'
import { type Fields, fieldsOf, isFunction, isObject } from '../util/values.js'

/** What is passed in place of options by mistake: a method that it has, what it is, and the fix. */
const MISPLACED = [
  ['clampToNow', 'a policy', 'Write { policy: … }.'],
  ['forget', 'a limiter', 'Pass the options of a limiter.'],
  ['apply', 'a store', 'Write { store: … }.'],
  ['then', 'a promise', 'Await it first.'],
  ['addHook', 'a Fastify application', "Register the plugin rateLimit from 'headgate/fastify'."],
] as const

/**
 * Throws a `TypeError` for a value that was given to a factory in place of its options. A framework that was
 * given the factory itself calls it with a request.
 */
export function refuseMisplaced(owner: string, value: unknown): void {
  const fields = fieldsOf(value)
  const [, misplaced, misplacedFix] = MISPLACED.find(([method]) => isFunction(fields[method])) ?? []
  const what = misplaced ?? (isOfRequest(fields) ? 'a request' : undefined)
  if (what === undefined) return
  const fix = misplacedFix ?? `Mount or pass ${owner}(…), not ${owner} itself.`
  throw wrongUse(owner, `options must be an options object, got ${what}`, fix)
}

/** Returns whether these are the properties of a request, or of what a framework passes in its place. */
function isOfRequest(fields: Fields): boolean {
  if (isObject(fields.req) || isFunction(fields.getHandler)) return true // Hono: its `event` may throw
  return (isObject(fields.headers) && fields.method !== undefined) || isObject(fields.event)
}
