import { type Policy, signatureOf } from './policy.js'
import { policyFromSpec } from './policy-from-spec.js'
import { expandSpec, FIELDS, type FlatSpec } from './spec.js'

const KINDS = Object.keys(FIELDS).join('|')
const SIGNATURE = new RegExp(`^((?:ban-)?(?:${KINDS}))((?:-\\d+(?:\\.\\d+)?){1,24})$`)

/**
 * Returns the policy that has a signature, under a name made from its numbers: the inverse of `signatureOf`.
 * `undefined` for a text that is no policy's signature.
 */
export function policyOf(signature: string): Policy | undefined {
  const [, kind, numbers] = SIGNATURE.exec(signature) ?? []
  if (kind === undefined || numbers === undefined) return undefined
  const params = numbers.slice(1).split('-').map(Number)
  try {
    const policy = policyFromSpec(expandSpec({ kind: kind as FlatSpec['kind'], params }))
    return signatureOf(policy) === signature ? policy : undefined
  } catch (error) {
    if (error instanceof TypeError) return undefined // numbers that no policy has
    throw error
  }
}
