import type { Policy } from '../../policies/policy.js'
import { evaluateCharge } from '../shared/evaluate-charge.js'
import type { Charge, KeyedPolicy, Verdict } from '../store.js'
import type { StoreError } from '../store-error.js'
import { foreignKeyError } from './errors.js'
import { chargeScript } from './lua/multi-policy.js'
import { encodePolicy } from './policy-codec.js'
import { indexIn, type Reading, type ScriptCall } from './script-call.js'

/** Returns the call for charges of any parts and policies. The reply is read as in `singlePolicyCall`. */
export function multiPolicyCall(charges: readonly Charge[]): ScriptCall<Verdict> {
  const { indexOf, keys, widths, args } = indexKeys(charges.flat())
  const items = charges.map((charge) => charge.flatMap(({ key, cost }) => [1 + indexOf(key), cost]))

  /** Returns a charge's verdict as the script decided it, and keeps the states that the script wrote. */
  function decide(charge: Charge, { atMs, states, refusal }: Reading): Verdict | StoreError {
    const foreign = charge.find(({ key }) => states[indexOf(key)] === undefined)
    if (foreign !== undefined) return foreignKeyError(foreign.key)
    const { verdict, writes } = evaluateCharge(charge, (key) => states[indexOf(key)], atMs)
    if (refusal) return verdict.allowed && writes.size > 0 ? refusal : verdict
    for (const [key, { state }] of writes) states[indexOf(key)] = state
    return verdict
  }

  return {
    script: chargeScript(),
    keys,
    args: [...args, JSON.stringify(items)],
    widths,
    resultsFrom: (reading) => charges.map((charge) => decide(charge, reading)),
  }
}

/** Returns the distinct keys and policies of some keys, as scripts read them. */
export function indexKeys(keyed: readonly KeyedPolicy[]) {
  const indexByKey = new Map<string, number>()
  const policyOf: Policy[] = []
  for (const { key, policy } of keyed) policyOf[indexIn(indexByKey, key)] = policy
  const policies = new Map<string, number>()
  const policyNumbers = policyOf.map((policy) => 1 + indexIn(policies, encodePolicy(policy).json))
  return {
    indexOf: (key: string) => indexByKey.get(key) as number,
    keys: [...indexByKey.keys()],
    widths: policyOf.map(({ width }) => width),
    args: [`[${[...policies.keys()].join()}]`, JSON.stringify(policyNumbers)],
  }
}
