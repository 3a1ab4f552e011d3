import { addressKey } from '../keys/by-ip.js'
import { identityReader } from '../keys/identity.js'
import { storageKeys } from '../keys/storage-key.js'
import { type Policy, signatureOf } from '../policies/policy.js'
import { thenMaybe } from '../util/maybe-promise.js'
import { keyName } from '../util/validate.js'
import { addressReaderOf, type BoundPolicy, checkPolicy, type Entry, type Limit } from './parse-limits.js'

/** What limits get from the limiter that they belong to. */
export interface LimitContext {
  readonly owner: string
  readonly keyHead: string
  readonly name: string | undefined
  readonly secret: string | undefined
  /** The share of each policy that the fallback store in this process grants. */
  readonly share: number
}

/** Binds limits to the keys and name of their limiter. Malformed input counts against its source address. */
export function bindLimits(context: LimitContext, entries: readonly Entry[]): Limit[] {
  const source = addressKey(addressReaderOf(context.owner, entries))
  return entries.map((entry) => ({
    readPolicy: policyReader(context, entry),
    readIdentity: identityReader(entry.keys, source, context.secret),
    readCost: entry.readCost,
  }))
}

function policyReader(context: LimitContext, { owner, entryName, policy }: Entry): Limit['readPolicy'] {
  const { keyHead, share, name } = context
  const head = entryName === undefined ? keyHead : `${keyHead}/${entryName}`
  const boundPolicies = new WeakMap<Policy, BoundPolicy>()

  function bind(value: unknown): BoundPolicy {
    const known = boundPolicies.get(value as Policy)
    if (known !== undefined) return known
    const checked = checkPolicy(owner, value)
    if (share < 1) checkShare(owner, checked, share)
    const bound = {
      policy: checked,
      keyAtRest: storageKeys(`${head}:${signatureOf(checked)}`),
      name: entryName ?? name ?? keyName(owner, 'policy.name', checked.name),
    }
    boundPolicies.set(checked, bound)
    return bound
  }

  if (typeof policy === 'function')
    return (subject) => thenMaybe(policy(subject), (value) => (value === undefined ? undefined : bind(value)))
  const only = bind(policy)
  return () => only
}

/** Throws for a share that the policy cannot keep, so that it fails at start-up and not in an outage. */
function checkShare(owner: string, policy: Policy, share: number): void {
  try {
    policy.scaled(share)
  } catch {
    throw new TypeError(
      `${owner}: share: ${share} of ${policy.name} is a rate that a token bucket cannot keep within 0.2 %. ` +
        'Use another share, or slidingWindow, which keeps any rate exactly.',
    )
  }
}
