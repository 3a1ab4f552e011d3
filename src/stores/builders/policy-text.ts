import type { Policy } from '../../policies/policy.js'
import { policyFromSpec } from '../../policies/policy-from-spec.js'
import type { PolicyOfSpec } from '../../policies/policy-kinds.js'
import { baseOf, FIELDS } from '../../policies/spec.js'
import { weakMemo } from '../../util/memo.js'
import { RecentMap } from '../../util/recent-map.js'
import { show } from '../../util/validate.js'

/** The fewest policies cached by text. */
const MIN_POLICIES = 1000

/**
 * Returns the encoded policy. Throws a `TypeError` for one of a kind that headgate does not have. The owner checks
 * the numbers when it decodes them, so a process that only sends operations needs the code of no policy.
 */
export const policyText = /* @__PURE__ */ weakMemo(({ spec }: Policy): string => {
  if (Object.hasOwn(FIELDS, baseOf(spec).kind)) return JSON.stringify(spec)
  throw new TypeError(
    `only policies that headgate made can be sent to another process, got ${show(spec.kind)}`,
  )
})

/** Returns the policy of a text. Throws if there is none. */
export type PolicyFromText = (text: string) => Policy

/** Creates a function that decodes policies, and caches them. It throws what `policyOfSpec` throws. */
export function policyReader(policyOfSpec: PolicyOfSpec): PolicyFromText {
  const policiesByText = new RecentMap<Policy>(MIN_POLICIES)
  return (text) => {
    const policy = policiesByText.get(text) ?? policyOfSpec(JSON.parse(text))
    policiesByText.set(text, policy)
    return policy
  }
}

const readPolicy = /* @__PURE__ */ policyReader(policyFromSpec)

/** Decodes a policy of any kind. Throws a `TypeError` if there is none. */
export function policyFromText(text: string): Policy {
  try {
    return readPolicy(text)
  } catch (cause) {
    throw new TypeError(`${show(text)} is not a policy: the versions of headgate may differ`, { cause })
  }
}
