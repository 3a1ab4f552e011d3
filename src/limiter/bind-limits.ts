import { addressReaderAmong } from '../keys/address-key.js'
import { addressKey } from '../keys/by-ip.js'
import { identityReader } from '../keys/identity.js'
import { storageKeys } from '../keys/storage-key.js'
import { signatureOf } from '../policies/policy.js'
import { thenMaybe } from '../util/maybe-promise.js'
import { weakMemo } from '../util/memo.js'
import { keyName } from '../util/validate.js'
import { type BoundPolicy, checkPolicy, type Entry, type Limit } from './parse-limits.js'

/** What limits get from the limiter that they belong to. */
export interface LimitContext {
  readonly owner: string
  readonly keyHead: string
  readonly name: string | undefined
  readonly secret: string | undefined
}

/** Returns limits that know the key head and name of their limiter. Malformed keys count by address. */
export function bindLimits(context: LimitContext, entries: readonly Entry[]): Limit[] {
  const keys = entries.flatMap((entry) => entry.keys)
  const source = addressKey(addressReaderAmong(context.owner, keys))
  return entries.map((entry) => ({
    readPolicy: policyReader(context, entry),
    readIdentity: identityReader(entry.keys, source, context.secret),
    readCost: entry.readCost,
  }))
}

function policyReader(context: LimitContext, { owner, entryName, policy }: Entry): Limit['readPolicy'] {
  const { keyHead, name } = context
  const head = entryName === undefined ? keyHead : `${keyHead}/${entryName}`
  const bind = weakMemo((given: object): BoundPolicy => {
    const policy = checkPolicy(owner, given)
    return {
      policy,
      keyAtRest: storageKeys(`${head}:${signatureOf(policy)}`),
      name: entryName ?? name ?? keyName(owner, 'policy.name', policy.name),
    }
  })

  if (typeof policy === 'function')
    return (subject) =>
      thenMaybe(policy(subject), (given) => (given === undefined ? undefined : bind(given as object)))
  const only = bind(policy)
  return () => only
}
