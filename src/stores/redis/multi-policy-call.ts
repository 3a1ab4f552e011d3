import type { Policy } from '../../policies/policy.js'
import { evaluateCharge } from '../shared/evaluate-charge.js'
import { renewUnits } from '../shared/renew-units.js'
import type { Charge, Part, Refund, Verdict } from '../store.js'
import type { StoreError } from '../store-error.js'
import { foreignKeyError } from './errors.js'
import { chargeScript, refundScript, renewScript } from './lua/multi-policy.js'
import { encodePolicy } from './policy-codec.js'
import { indexIn, type Reading, type ScriptCall } from './script-call.js'

/** Returns the call for charges of any parts and policies. The reply is read as in `singlePolicyCall`. */
export function multiPolicyCall(charges: readonly Charge[]): ScriptCall<Verdict> {
  const { indexOf, keys, widths, args } = indexParts(charges.flat())
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

/** Returns the call that refunds units. */
export function refundCall(items: readonly (readonly [Refund])[]): ScriptCall<true> {
  const { keys, widths, args } = indexRefunds(items.flat())
  return {
    script: refundScript(),
    keys,
    args,
    widths,
    resultsFrom: ({ refusal }) => items.map(() => refusal ?? true),
  }
}

/** Returns the call that renews held units. Its results are when time alone would free them. */
export function renewCall(items: readonly (readonly [Refund])[]): ScriptCall<number> {
  const { indexOf, keys, widths, args } = indexRefunds(items.flat())

  function renewed(units: Refund, { atMs, states, refusal }: Reading): number | StoreError {
    const index = indexOf(units.key)
    if (states[index] === undefined) return foreignKeyError(units.key)
    const { state, resetAtMs } = renewUnits(units, states[index], atMs)
    states[index] = state
    return refusal ?? resetAtMs
  }

  const resultsFrom = (reading: Reading) => items.map(([units]) => renewed(units, reading))
  return { script: renewScript(), keys, args, widths, resultsFrom }
}

/** Returns the distinct keys and policies of refunds, and the refunds, as scripts read them. */
function indexRefunds(refunds: readonly Refund[]) {
  const indexed = indexParts(refunds)
  const encoded = refunds.map(({ key, cost, takenAtMs, resetAtMs }) => {
    // JSON has no Infinity.
    const resetAt = resetAtMs === undefined ? [] : [Math.min(resetAtMs, Number.MAX_SAFE_INTEGER)]
    return [1 + indexed.indexOf(key), cost, takenAtMs, ...resetAt]
  })
  return { ...indexed, args: [...indexed.args, JSON.stringify(encoded)] }
}

/** Returns the distinct keys and policies of parts, as scripts read them. */
function indexParts(parts: readonly Part[]) {
  const indexByKey = new Map<string, number>()
  const policyOf: Policy[] = []
  for (const { key, policy } of parts) policyOf[indexIn(indexByKey, key)] = policy
  const policies = new Map<string, number>()
  const policyNumbers = policyOf.map((policy) => 1 + indexIn(policies, encodePolicy(policy).json))
  return {
    indexOf: (key: string) => indexByKey.get(key) as number,
    keys: [...indexByKey.keys()],
    widths: policyOf.map(({ width }) => width),
    args: [`[${[...policies.keys()].join()}]`, JSON.stringify(policyNumbers)],
  }
}
