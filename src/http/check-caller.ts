import { fieldsOf, isObject } from '../util/values.js'

/**
 * Throws a `TypeError` unless the function that a factory returned is called as its framework calls it.
 * `owner` is the factory, and `call` names the arguments. Returns true, so that each function checks only
 * its first call.
 */
export function checkCaller(owner: string, call: string, isRight: boolean): true {
  if (isRight) return true
  throw new TypeError(
    `${owner}: call the function that it returns with ${call}. Each framework has its own entry: 'headgate' is ` +
      "for Express, Connect and node:http, and the others are 'headgate/koa', 'headgate/hono', " +
      "'headgate/fastify', 'headgate/nest' and 'headgate/fetch'.",
  )
}

/** Throws a `TypeError` unless middleware for node:http is called with (req, res, next). Returns true. */
export function checkNodeCall(owner: string, req: unknown, next: unknown): true {
  const isFastifyRequest = isObject(fieldsOf(fieldsOf(req).raw).headers) // Fastify also passes a function
  return checkCaller(owner, '(req, res, next)', typeof next === 'function' && !isFastifyRequest)
}
