import { type PolicyKind, type PolicyOfSpec, policyOfKinds } from '../../policies/policy-kinds.js'
import { show, wrongKind } from '../../util/validate.js'
import { policyReader } from '../builders/policy-text.js'
import { StoreError } from '../store-error.js'
import type { ObjectContext } from './platform.js'
import { ServingObject, STORE_NAME } from './serving-object.js'

/**
 * Creates a class like `LimitsObject` that contains the code of only these kinds of policies. A Worker with
 * one kind is up to 17 kB smaller.
 *
 * Pass the kind of each policy that your limits use. Limits without a policy need `tokenBucketKind`. Bans
 * need `banKind`, and the kind of the policy in the ban. Operations with any other policy fail, and the
 * error names the kind that is missing.
 *
 * Throws a `TypeError` for values that are not policy kinds.
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
      throw wrongKind('limitsObject', 'each argument', 'a policy kind', kind, fix)
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
