import type { MaybePromise } from '../util/maybe-promise.js'

/**
 * What a key function may return.
 *
 * - A string, a finite number or a bigint is the client's identity, which is stored hashed.
 * - `undefined` or `null`: the request is limited by its IP address. If the subject is not a request, they are
 *   a `TypeError`. To exempt some subjects, set `skip`.
 * - Anything else is never an identity: an object, an array, a boolean, `NaN`, a string longer than 1024
 *   characters, or with a NUL or half a surrogate pair. Such requests share one bucket per source address,
 *   with those that have no key. Such subjects that are not requests share one.
 */
export type KeyValue = unknown

/** Returns the identity of a request, or of another subject that is charged. May be async. */
export type KeyFunction<Subject = never> = (subject: Subject) => MaybePromise<KeyValue>
