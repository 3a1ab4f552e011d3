import { type Policy, signatureOf } from '../../policies/policy.js'
import { policyOf } from '../../policies/policy-from-spec.js'
import { weakMemo } from '../../util/memo.js'
import { RecentMap } from '../../util/recent-map.js'
import { show } from '../../util/validate.js'

/** How many policies are kept by their text, at least. */
const MIN_POLICIES = 1000

/**
 * Returns the text by which a policy travels. Throws a `TypeError` for a policy that headgate did not make.
 */
export const policyText = weakMemo((policy: Policy): string => {
  const text = signatureOf(policy)
  if (policyOf(text) !== undefined) return text
  throw new TypeError(
    `only policies of headgate can be sent to another process, got ${show(policy.spec.kind)}`,
  )
})

const known = new RecentMap<Policy>(MIN_POLICIES)

/** Returns the policy that has a text. Throws a `TypeError` if there is none. */
export function policyFromText(text: string): Policy {
  const found = known.get(text) ?? policyOf(text)
  if (found === undefined)
    throw new TypeError(`${show(text)} is not a policy: the versions of headgate may differ`)
  known.set(text, found)
  return found
}
