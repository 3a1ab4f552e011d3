import type { MaybePromise } from '../util/maybe-promise.js'

/**
 * What a key function may return:
 *
 * - a string, a finite number or a bigint: the client's identity, which is stored hashed.
 * - `undefined`: this limit does not apply to the request.
 * - anything else (`null`, an object, an array, a boolean, `NaN`, a string longer than 1024 characters or
 *   with a NUL): never an identity. Such requests share one bucket per source address.
 */
export type KeyValue = unknown

/** Returns the key of a request, or of whatever else the limiter is charged for. May be async. */
export type KeyFunction<Subject = never> = (subject: Subject) => MaybePromise<KeyValue>
