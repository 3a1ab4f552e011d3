import type { Policy, State } from '../../policies/policy.js'
import { evaluateCharge } from '../shared/evaluate-charge.js'
import type { Charge, Part, Refund, Verdict } from '../store.js'
import type { StoreError } from '../store-error.js'
import { CHARGE_SCRIPT, REFUND_SCRIPT } from './lua/multi-policy.js'
import type { Script } from './lua/prelude.js'
import { encodePolicy } from './policy-codec.js'
import { decodeState, decodeTime, foreignKeyError, type ScriptCall, type Trouble } from './script-call.js'

/** Returns the call for charges of any parts and policies. The reply is read as in `singlePolicyCall`. */
export function multiPolicyCall(charges: readonly Charge[]): ScriptCall<Verdict> {
  const table = new CallTable()
  const encoded = charges.map((charge) => charge.flatMap((part) => table.encode(part)))
  return callFor(CHARGE_SCRIPT, table, encoded, (reading) => charges.map((charge) => decide(charge, reading)))
}

/** Returns the call that refunds units. */
export function refundCall(refunds: readonly Refund[]): ScriptCall<true> {
  const table = new CallTable()
  const encoded = refunds.map((refund) => {
    const { takenAtMs, resetAtMs } = refund
    // JSON has no Infinity.
    const resetAt = resetAtMs === undefined ? [] : [Math.min(resetAtMs, Number.MAX_SAFE_INTEGER)]
    return [...table.encode(refund), takenAtMs, ...resetAt]
  })
  return callFor(REFUND_SCRIPT, table, encoded, ({ refusal }) => refunds.map(() => refusal ?? true))
}

/** What a script read, with states as the charges before have left them. */
interface Reading {
  readonly atMs: number
  readonly states: Map<string, State>
  readonly foreign: ReadonlySet<string>
  readonly refusal: Trouble['refusal']
}

function callFor<Result>(
  script: Script,
  { keyNumbers, policyNumbers, policyOf }: CallTable,
  items: readonly (readonly number[])[],
  resultsOf: (reading: Reading) => readonly (Result | StoreError)[],
): ScriptCall<Result> {
  const keys = [...keyNumbers.keys()]
  const policies = Array.from(policyNumbers.keys(), (policy) => encodePolicy(policy).json)

  function decodeStates(numbers: DataView): Map<string, State> {
    let end = 0
    return new Map(
      keys.map((key, i) => {
        const { width } = policyOf[i] as Policy
        end += width
        return [key, decodeState(numbers, end - width, width)]
      }),
    )
  }

  return {
    script,
    keys,
    args: [`[${policies.join()}]`, JSON.stringify(items)],
    replyLength: policyOf.reduce((sum, { width }) => sum + width, 1),
    read: (numbers, { foreign, refusal }) =>
      resultsOf({
        atMs: decodeTime(numbers),
        states: decodeStates(numbers),
        foreign: new Set(foreign.map((index) => keys[index] as string)),
        refusal,
      }),
  }
}

/** Returns a charge's verdict as the script decided it, and keeps the states that the script wrote. */
function decide(charge: Charge, { atMs, states, foreign, refusal }: Reading): Verdict | StoreError {
  const bad = charge.find(({ key }) => foreign.has(key))
  if (bad !== undefined) return foreignKeyError(bad.key)
  const { verdict, writes } = evaluateCharge(charge, (key) => states.get(key), atMs)
  if (refusal) return verdict.allowed && writes.size > 0 ? refusal : verdict
  for (const [key, { state }] of writes) states.set(key, state)
  return verdict
}

/** The distinct keys and policies of a call, numbered from 1 as in Lua. */
class CallTable {
  readonly keyNumbers = new Map<string, number>()
  readonly policyNumbers = new Map<Policy, number>()
  /** The policy of each key, in the order of the keys. */
  readonly policyOf: Policy[] = []

  /** Returns a part as scripts read it: key, policy, cost. */
  encode({ key, policy, cost }: Part): number[] {
    const policyNumber = this.policyNumbers.get(policy) ?? this.policyNumbers.size + 1
    this.policyNumbers.set(policy, policyNumber)
    const keyNumber = this.keyNumbers.get(key) ?? this.policyOf.push(policy)
    this.keyNumbers.set(key, keyNumber)
    return [keyNumber, policyNumber, cost]
  }
}
