import { wrongOption } from '../util/validate.js'
import type { Policy } from './policy.js'
import {
  banKind,
  concurrencyKind,
  consecutiveKind,
  fixedWindowKind,
  policyOfKinds,
  quotaKind,
  slidingLogKind,
  slidingWindowKind,
  tokenBucketKind,
} from './policy-kinds.js'
import { type PolicySpec, KINDS as SPEC_KINDS } from './spec.js'

const KINDS = [
  tokenBucketKind,
  slidingWindowKind,
  fixedWindowKind,
  quotaKind,
  slidingLogKind,
  consecutiveKind,
  concurrencyKind,
  banKind,
]

/**
 * Returns the policy of a spec, under a name made from its numbers. Throws a `TypeError` for an
 * unknown kind, and for numbers that no policy of the kind has.
 */
export function policyFromSpec(spec: PolicySpec): Policy {
  const policy = policyOfKinds(KINDS, spec, policyFromSpec)
  if (policy !== undefined) return policy
  const { kind }: { readonly kind: unknown } = spec
  throw wrongOption(
    'policyFromSpec',
    'kind',
    `one of ${[...Object.keys(SPEC_KINDS), 'ban'].join(', ')}`,
    kind,
  )
}
