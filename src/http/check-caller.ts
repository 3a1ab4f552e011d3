import { fieldsOf, isObject } from '../util/values.js'

/**
 * Throws a `TypeError` unless what a factory returned is called with the arguments of its framework. `owner` is
 * the factory, and `call` names the arguments. Returns true, so that each middleware checks only its first call.
 */
export function checkCaller(owner: string, call: string, isRight: boolean): true {
  if (isRight) return true
  throw new TypeError(
    `${owner}: call what it returns with ${call}. Other frameworks have their own entries: 'headgate' is for ` +
      "Express, Connect and node:http, and the others are 'headgate/koa', 'headgate/hono', 'headgate/fastify', " +
      "'headgate/nest' and 'headgate/fetch'.",
  )
}

/** Throws a `TypeError` unless middleware for node:http is called with (req, res, next). Returns true. */
export function checkNodeCall(owner: string, req: unknown, next: unknown): true {
  const isOfFastify = isObject(fieldsOf(fieldsOf(req).raw).headers) // whose hooks also get a function
  return checkCaller(owner, '(req, res, next)', typeof next === 'function' && !isOfFastify)
}
