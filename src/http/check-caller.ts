import { FRAMEWORKS, type Framework, frameworkOf } from '../util/framework.js'
import { wrongKind } from '../util/validate.js'

/** Returns the fix for a framework if `name` was imported from another entry point. */
function fixFor(framework: Framework, name: 'rateLimit' | 'loginGuard'): string {
  if (name === 'rateLimit' && framework === 'fastify')
    return "Register the plugin rateLimit from 'headgate/fastify', or use its rateLimitHook as the hook."
  if (name === 'rateLimit' && framework === 'nest')
    return "Import RateLimitModule and @RateLimit from 'headgate/nest'."
  return `Import ${name} from 'headgate${framework === 'node' ? '' : `/${framework}`}'.`
}

/**
 * Throws a `TypeError` that names the right entry point, if the first argument of a call shows that the call
 * comes from a framework other than `expected`. `owner` is the function that created the middleware. Returns
 * true, so that each middleware checks only its first call.
 */
export function checkCaller(owner: string, expected: Framework, first: unknown): true {
  const framework = frameworkOf(first)
  if (framework === undefined || framework === expected) return true
  const problem = `for ${FRAMEWORKS[expected]}, but was called by ${FRAMEWORKS[framework]}`
  const name = owner === 'loginGuard' ? 'loginGuard' : 'rateLimit'
  throw new TypeError(`${owner}: what it returns is ${problem}. ${fixFor(framework, name)}`)
}

/** Throws a `TypeError` if middleware for node:http was not called with (req, res, next). Returns true. */
export function checkNodeCall(owner: string, req: unknown, next: unknown): true {
  checkCaller(owner, 'node', req)
  if (typeof next === 'function') return true
  throw wrongKind(owner, 'next', 'a function', next, 'Call what it returns with (req, res, next).')
}
