import type { KeyFunction } from 'headgate'
import { identityReader } from '../../../src/keys/identity.js'
import { addressReader, expressReader, requestIdentity } from '../../../src/keys/source-address.js'

/** Whose malformed input it is; `undefined` for a subject that is not a request. */
export const sourceOf = requestIdentity(addressReader(expressReader()))

export const SECRET = 'a secret of enough characters'

/** The identity at rest of a subject, for key functions that answer at once. */
export function identityOf(
  keys: KeyFunction<unknown> | readonly KeyFunction<unknown>[],
  subject: unknown,
  secret?: string,
): string | undefined {
  const list: readonly KeyFunction<unknown>[] = [keys].flat()
  const identity = identityReader(list, { readAddress: sourceOf, secret })(subject)
  if (identity instanceof Promise) throw new Error('the identity is a promise')
  return identity
}
