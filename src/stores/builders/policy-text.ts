import type { Policy } from '../../policies/policy.js'
import { policyFromSpec } from '../../policies/policy-from-spec.js'
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

const policiesByText = /* @__PURE__ */ new RecentMap<Policy>(MIN_POLICIES)

/** Returns the policy that a text encodes. Throws a `TypeError` if there is none. */
export function policyFromText(text: string): Policy {
  const found = policiesByText.get(text) ?? decode(text)
  if (found === undefined)
    throw new TypeError(`${show(text)} is not a policy: the versions of headgate may differ`)
  policiesByText.set(text, found)
  return found
}

function decode(text: string): Policy | undefined {
  try {
    return policyFromSpec(JSON.parse(text))
  } catch {
    return undefined // not JSON, or not a spec
  }
}
