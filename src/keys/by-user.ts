import { callback, readOptions } from '../options/option-table.js'
import type { FrameworkTypes } from '../util/framework-types.js'
import { type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { wrongKind } from '../util/validate.js'
import { isFunction, isObject } from '../util/values.js'
import { byIp } from './by-ip.js'
import type { KeyFunction } from './key-types.js'
import { requestOf } from './request.js'
import { addressUseOf, markAddressUse } from './source-address.js'
import { isKey } from './value-identity.js'

/** Options of `byUser`: how to identify requests without a user. */
export type ByUserOptions<Subject = never> = {
  /** The key of a request without a user. Default: `byIp()`. */
  anonymous?: KeyFunction<Subject>
}

/** The type of `byUser` in a framework. Without an annotation, `get` takes the framework's requests. */
export type MakeByUser<F extends FrameworkTypes> = {
  <Subject = unknown>(get?: undefined, options?: ByUserOptions<Subject>): KeyFunction<Subject>
  <Subject = F['request']>(
    get: (subject: Subject) => unknown,
    options?: ByUserOptions<NoInfer<Subject>>,
  ): KeyFunction<Subject>
}

const OPTIONS = { rows: { anonymous: callback<KeyFunction<unknown>> } }

/**
 * Creates a key that identifies a client by the authenticated user: what `get` returns, or the first of
 * `req.user.id`, `.sub` and `.username` that exists. Without a user, the key `anonymous` identifies the
 * client, by default `byIp()`. A user never shares a bucket with an anonymous client, even if both
 * identities are the same string.
 *
 * Run the limiter after authentication. Otherwise all clients are anonymous.
 */
export function byUser<Subject>(
  get?: (subject: Subject) => unknown,
  options: ByUserOptions<Subject> = {},
): KeyFunction<Subject> {
  if (get !== undefined && !isFunction(get))
    throw wrongKind(
      'byUser',
      'get',
      'a function',
      get,
      'Write byUser(), or byUser((req) => req.session.user).',
    )
  const { anonymous = byIp() } = readOptions('byUser', options, OPTIONS)
  const read: (subject: Subject) => unknown = get ?? userOf

  function userKey(subject: Subject): MaybePromise<unknown> {
    return thenMaybe(read(subject), (user): MaybePromise<unknown> => {
      if (user !== undefined && user !== null && user !== '') return tagKey('user', user)
      return thenMaybe(anonymous(subject), (key) => tagKey('anonymous', key))
    })
  }

  const use = addressUseOf(anonymous)
  return markAddressUse(userKey, use && { ...use, returnsAddress: false })
}

/** Returns a key that tells users from anonymous clients; a value that cannot be a key as it is. */
function tagKey(kind: 'user' | 'anonymous', key: unknown): unknown {
  return isKey(key) ? `${kind}:${key}` : key
}

function userOf(subject: unknown): unknown {
  const { user } = requestOf('byUser', subject)
  if (!isObject(user)) return undefined
  const { id, sub, username } = user
  return id ?? sub ?? username ?? { noIdentity: true } // cannot be a key, and is not anonymous
}
