import { FRAMEWORKS, frameworkOf, hasMethods, isFastifyInstance } from '../util/framework.js'
import { isPromise } from '../util/maybe-promise.js'

interface Misplaced {
  readonly what: string
  readonly fix: string
}

/**
 * Returns what a value is that was given to a factory in place of its options; `undefined` if it may be
 * options. A framework that was given the factory itself calls it with a request.
 */
export function misplacedFor(owner: string, value: object): Misplaced | undefined {
  if (isFastifyInstance(value))
    return { what: 'a Fastify application', fix: "Register the plugin rateLimit from 'headgate/fastify'." }
  const framework = frameworkOf(value)
  if (framework !== undefined) {
    const fix = `Mount or pass ${owner}(…), not ${owner} itself.`
    return { what: `a request from ${FRAMEWORKS[framework]}`, fix }
  }
  if (hasMethods(value, 'take', 'clampToNow')) return { what: 'a policy', fix: 'Write { policy: … }.' }
  if (hasMethods(value, 'charge', 'forget') || (typeof value === 'object' && hasMethods(value, 'apply')))
    return { what: 'a store or a limiter', fix: 'Write { store: … }.' }
  return isPromise(value) ? { what: 'a promise', fix: 'Await it first.' } : undefined
}
