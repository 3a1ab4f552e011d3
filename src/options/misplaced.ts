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
 * Throws a `TypeError` if a factory was given something other than options: a request, for example, if the
 * factory itself was mounted, so that a framework calls it.
 */
export function checkNotMisplaced(owner: string, value: unknown): void {
  const fields = fieldsOf(value)
  const [, misplaced, misplacedFix] = MISPLACED.find(([method]) => isFunction(fields[method])) ?? []
  const what = misplaced ?? (hasRequestFields(fields) ? 'a request' : undefined)
  if (what === undefined) return
  const fix = misplacedFix ?? `Mount or pass ${owner}(…), not ${owner} itself.`
  throw wrongUse(owner, `options must be an options object, got ${what}`, fix)
}

/** Returns whether these are the properties of a request, or of a framework's context. */
function hasRequestFields(fields: Fields): boolean {
  if (isObject(fields.req) || isFunction(fields.getHandler)) return true // before `event`, which may throw in Hono
  return (isObject(fields.headers) && fields.method !== undefined) || isObject(fields.event)
}
