import { type PolicyKind, type PolicyOfSpec, policyOfKinds } from '../../policies/policy-kinds.js'
import { show, wrongKind } from '../../util/validate.js'
import { policyReader } from '../builders/policy-text.js'
import { StoreError } from '../store-error.js'
import type { ObjectContext } from './platform.js'
import { ServingObject, STORE_NAME } from './serving-object.js'

/**
 * Creates a class like `LimitsObject` that has the code of these kinds of policies only. This makes a Worker
 * with one kind 16 kB smaller. Name the kind of each policy of your limits: `tokenBucketKind` for limits
 * that name no policy, and for bans both `banKind` and the kind of the policy in the ban.
 *
 * Operations with another policy fail, with an error that names the kind. Throws a `TypeError` for values
 * that are not kinds.
 *
 * @example
 * ```ts
 * import { limitsObject, quotaKind, tokenBucketKind } from 'headgate/durable-objects'
 *
 * export class LimitsObject extends limitsObject(tokenBucketKind, quotaKind) {}
 * ```
 */
export function limitsObject(
  ...kinds: readonly PolicyKind[]
): new (
  context: ObjectContext,
  env?: unknown,
) => ServingObject {
  for (const kind of kinds)
    if (typeof kind?.policyOf !== 'function') {
      const fix = 'Write limitsObject(tokenBucketKind), with the kind of each policy that your limits use.'
      throw wrongKind('limitsObject', 'a kind', 'a kind of policy', kind, fix)
    }
  const policyOf: PolicyOfSpec = (spec) => {
    const policy = policyOfKinds(kinds, spec, policyOf)
    if (policy !== undefined) return policy
    const problem = `the object has no code for the policy ${show(spec.kind)}`
    throw new StoreError(STORE_NAME, `${problem}. Add its kind to limitsObject(…), or export LimitsObject.`, {
      replied: true,
    })
  }
  const policyFromText = policyReader(policyOf)
  return class extends ServingObject {
    constructor(context: ObjectContext) {
      super(context, policyFromText)
    }
  }
}
