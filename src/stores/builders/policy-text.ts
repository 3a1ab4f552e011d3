import type { Policy } from '../../policies/policy.js'
import { policyFromSpec } from '../../policies/policy-from-spec.js'
import type { PolicyOfSpec } from '../../policies/policy-kinds.js'
import { baseOf, KINDS } from '../../policies/spec.js'
import { weakMemo } from '../../util/memo.js'
import { RecentMap } from '../../util/recent-map.js'
import { show } from '../../util/validate.js'

/** The fewest policies cached by text. */
const MIN_POLICIES = 1000

/**
 * Returns the encoded policy. Throws a `TypeError` if headgate has no such kind of policy. The owner checks
 * the numbers when it decodes them, so a process that only sends operations does not need the code of
 * policies.
 */
export const policyText = /* @__PURE__ */ weakMemo(({ spec }: Policy): string => {
  if (Object.hasOwn(KINDS, baseOf(spec).kind)) return JSON.stringify(spec)
  throw new TypeError(
    `only policies that headgate made can be sent to another process, got ${show(spec.kind)}`,
  )
})

/** Decodes a policy. Throws if the text is not a policy. */
export type PolicyFromText = (text: string) => Policy

/** Creates a function that decodes and caches policies. It throws the errors of `policyOfSpec`. */
export function policyReader(policyOfSpec: PolicyOfSpec): PolicyFromText {
  const policiesByText = new RecentMap<Policy>(MIN_POLICIES)
  return (text) => {
    const policy = policiesByText.get(text) ?? policyOfSpec(JSON.parse(text))
    policiesByText.set(text, policy)
    return policy
  }
}

const readPolicy = /* @__PURE__ */ policyReader(policyFromSpec)

/** Decodes a policy of any kind. Throws a `TypeError` if the text is not a policy. */
export function policyFromText(text: string): Policy {
  try {
    return readPolicy(text)
  } catch (cause) {
    throw new TypeError(`${show(text)} is not a policy: the versions of headgate may differ`, { cause })
  }
}
