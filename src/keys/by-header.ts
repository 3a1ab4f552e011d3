import { wrongKind } from '../util/validate.js'
import type { KeyFunction } from './key.js'
import { headerOf, requestOf } from './request.js'

/**
 * Identifies a client by a request header, such as `x-api-key`; the name's case does not matter. Reads
 * requests of `node:http` and of the Fetch standard. The header must be verified first: a client that can
 * invent values has as many buckets as it likes. Requests without it are limited as malformed input, per
 * source address, so that leaving it out bypasses no limit.
 */
export function byHeader(name: string): KeyFunction<unknown> {
  if (!isHeaderName(name)) {
    throw wrongKind('byHeader', 'name', 'the name of a header', name, "Did you mean byHeader('x-api-key')?")
  }
  const header = name.toLowerCase()
  return function headerKey(subject: unknown): unknown {
    requestOf('byHeader', subject)
    return headerOf(subject, header) ?? null
  }
}

/** Returns whether a value is the name of a header: a token (RFC 9110 §5.1). */
export function isHeaderName(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(value)
}
