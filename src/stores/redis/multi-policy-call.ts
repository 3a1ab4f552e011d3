import type { Policy, State } from '../../policies/policy.js'
import { evaluateCharge } from '../shared/evaluate-charge.js'
import type { Charge, Part, Refund, Verdict } from '../store.js'
import type { StoreError } from '../store-error.js'
import { CHARGE_SCRIPT, REFUND_SCRIPT } from './lua/multi-policy.js'
import type { Script } from './lua/prelude.js'
import { encodePolicy } from './policy-codec.js'
import { decodeState, foreignKey, type ScriptCall, type Trouble, timeIn } from './script-call.js'

/** Returns the call for charges of any number of parts and policies. The reply is read as for one policy. */
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

/** What a script read. */
interface Reading {
  readonly atMs: number
  readonly states: Map<string, State>
  readonly foreign: ReadonlySet<string>
  readonly refusal: Trouble['refusal']
}

function callFor<Result>(
  script: Script,
  table: CallTable,
  items: readonly (readonly number[])[],
  resultsOf: (reading: Reading) => readonly (Result | StoreError)[],
): ScriptCall<Result> {
  const { keys, policies, width } = table
  return {
    script,
    keys,
    args: [policies, JSON.stringify(items)],
    replyLength: 1 + width,
    read: (numbers, { foreign, refusal }) =>
      resultsOf({
        atMs: timeIn(numbers),
        states: table.decodeStates(numbers),
        foreign: new Set(foreign.map((index) => keys[index] as string)),
        refusal,
      }),
  }
}

/** Decides a charge as the script did, and keeps the states that it wrote. */
function decide(charge: Charge, { atMs, states, foreign, refusal }: Reading): Verdict | StoreError {
  const bad = charge.find(({ key }) => foreign.has(key))
  if (bad !== undefined) return foreignKey(bad.key)
  const { verdict, writes } = evaluateCharge(charge, (key) => states.get(key), atMs)
  if (refusal) return verdict.allowed && writes.size > 0 ? refusal : verdict
  for (const [key, { state }] of writes) states.set(key, state)
  return verdict
}

/** The distinct keys and policies of a call, numbered from 1 as in Lua. */
class CallTable {
  readonly #keys = new Map<string, number>()
  readonly #policies = new Map<Policy, number>()
  /** The policy of each key. */
  readonly #policyOf: Policy[] = []

  /** Encodes a part as scripts read it: key, policy, cost. */
  encode({ key, policy, cost }: Part): number[] {
    const policyNumber = this.#policies.get(policy) ?? this.#policies.size + 1
    this.#policies.set(policy, policyNumber)
    const keyNumber = this.#keys.get(key) ?? this.#policyOf.push(policy)
    this.#keys.set(key, keyNumber)
    return [keyNumber, policyNumber, cost]
  }

  get keys(): string[] {
    return [...this.#keys.keys()]
  }

  /** The policies as JSON, in order. */
  get policies(): string {
    return `[${Array.from(this.#policies.keys(), (policy) => encodePolicy(policy).json).join()}]`
  }

  /** How many numbers the states of all keys have. */
  get width(): number {
    return this.#policyOf.reduce((sum, { width }) => sum + width, 0)
  }

  decodeStates(numbers: DataView): Map<string, State> {
    let offset = 0
    return new Map(
      this.keys.map((key, i) => {
        const { width } = this.#policyOf[i] as Policy
        offset += width
        return [key, decodeState(numbers, offset - width, width)]
      }),
    )
  }
}
