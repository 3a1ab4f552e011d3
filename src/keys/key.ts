import type { MaybePromise } from '../util/maybe-promise.js'

/**
 * What a key function may return.
 *
 * - A string, a finite number or a bigint is the client's identity, which is stored hashed.
 * - `undefined`: this limit does not apply to the request.
 * - Anything else is never an identity: `null`, an object, an array, a boolean, `NaN`, a string longer than
 *   1024 characters or with a NUL. Such requests share one bucket per source address.
 */
export type KeyValue = unknown

/** Returns the identity of a request, or of another subject that is charged. May be async. */
export type KeyFunction<Subject = never> = (subject: Subject) => MaybePromise<KeyValue>
