import type { MaybePromise } from '../util/maybe-promise.js'

/**
 * What a key function may return:
 *
 * - a string, a finite number or a bigint: the client's key. Stored hashed.
 * - `undefined`: this limit does not apply to the request.
 * - anything else (`null`, an object, an array, a boolean, `NaN`, a string longer than 1024 characters or
 *   with a NUL): never a client's key. Such requests share one bucket per source address.
 */
export type KeyValue = unknown

/** Returns the key of a request, or of whatever else the limiter is charged for. May be async. */
export type KeyFunction<Subject = never> = (subject: Subject) => MaybePromise<KeyValue>

/**
 * What headgate's own key functions read from a subject; nothing is required. An Express, Connect or
 * node:http request has it; so may a Fetch `Request`, or an object of the user's own.
 */
export interface RequestLike {
  readonly ip?: unknown
  readonly method?: unknown
  readonly baseUrl?: unknown
  readonly route?: unknown
  readonly user?: unknown
  readonly body?: unknown
  readonly headers?: unknown
  readonly socket?: unknown
  /** Of an HTTP/2 request. */
  readonly stream?: unknown
  readonly app?: unknown
}

/** Returns a subject typed as a request. Its properties are `unknown`: check each where you read it. */
export function asRequest(subject: unknown): RequestLike {
  return typeof subject === 'object' && subject !== null ? subject : {}
}

/**
 * Returns a header's value, or `undefined` if the subject has no such header or its value is not a string.
 * `name` is in lower case. Reads the plain object of `node:http`, and objects with a `get` method, as
 * `Headers` of the Fetch standard.
 */
export function headerOf(subject: unknown, name: string): string | undefined {
  const { headers } = asRequest(subject)
  if (typeof headers !== 'object' || headers === null) return undefined
  const { get } = headers as { get?: unknown } // a string where a client sent a header of that name
  const value: unknown =
    typeof get === 'function' ? get.call(headers, name) : (headers as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : undefined
}
