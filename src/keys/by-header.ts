import { wrongKind } from '../util/validate.js'
import type { KeyFunction } from './key-types.js'
import { headerOf, requestOf } from './request.js'
import { markClientChosen } from './skipping.js'

/**
 * Creates a key that identifies a client by a request header, such as `x-api-key`. The name's case does not
 * matter. It reads requests of `node:http` and of the Fetch standard.
 *
 * Verify the header before the limiter runs: a client that invents values gets a new bucket for each.
 * Requests without the header are limited as malformed input, per source address. So leaving it out bypasses
 * no limit.
 *
 * @example
 * ```ts
 * import express from 'express'
 * import { byHeader, rateLimit } from 'headgate'
 *
 * const app = express()
 * app.use((req, res, next) => {
 *   if (req.get('x-api-key') === process.env.API_KEY) next()
 *   else res.sendStatus(401)
 * })
 * app.use(rateLimit({ limit: 1000, window: '1h', key: byHeader('x-api-key') }))
 * ```
 */
export function byHeader(name: string): KeyFunction<unknown> {
  if (!isHeaderName(name)) {
    throw wrongKind('byHeader', 'name', 'the name of a header', name, "Did you mean byHeader('x-api-key')?")
  }
  const header = name.toLowerCase()
  return markClientChosen(function headerKey(subject: unknown): unknown {
    requestOf('byHeader', subject)
    return headerOf(subject, header) ?? null
  })
}

/** Returns whether a value is the name of a header: a token (RFC 9110 §5.1). */
export function isHeaderName(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(value)
}
