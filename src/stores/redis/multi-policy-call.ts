import type { State } from '../../policies/policy.js'
import { evaluateCharge } from '../shared/evaluate-charge.js'
import type { Charge, Refund, Verdict } from '../store.js'
import type { StoreError } from '../store-error.js'
import { CHARGE, REFUND } from './lua/multi-policy.js'
import type { Script } from './lua/prelude.js'
import { Places } from './places.js'
import { foreignKey, type ScriptCall, type Trouble, timeIn } from './script-call.js'

/** The call for charges of any number of parts and policies. The verdicts are worked out as for one policy. */
export function chargeCall(charges: readonly Charge[]): ScriptCall<Verdict> {
  const places = new Places()
  const wanted = charges.map((charge) => charge.flatMap((part) => places.of(part)))
  return callFor(CHARGE, places, wanted, (read) => charges.map((charge) => decide(charge, read)))
}

/** The call that gives units back. */
export function refundCall(refunds: readonly Refund[]): ScriptCall<true> {
  const places = new Places()
  const wanted = refunds.map((refund) => {
    const { takenAtMs, resetAtMs } = refund
    if (resetAtMs === undefined) return [...places.of(refund), takenAtMs]
    return [...places.of(refund), takenAtMs, Math.min(resetAtMs, Number.MAX_SAFE_INTEGER)] // JSON has no Infinity
  })
  return callFor(REFUND, places, wanted, ({ refusal }) => refunds.map(() => refusal ?? true))
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
  places: Places,
  wanted: readonly (readonly number[])[],
  results: (read: Reading) => readonly (Result | StoreError)[],
): ScriptCall<Result> {
  const { keys, policies, width } = places
  return {
    script,
    keys,
    args: [policies, JSON.stringify(wanted)],
    replyLength: 1 + width,
    read: (numbers, { foreign, refusal }) =>
      results({
        atMs: timeIn(numbers),
        states: places.statesIn(numbers),
        foreign: new Set(foreign.map((place) => keys[place] as string)),
        refusal,
      }),
  }
}

/** Decides a charge as the script did, and moves the states on. */
function decide(charge: Charge, { atMs, states, foreign, refusal }: Reading): Verdict | StoreError {
  const bad = charge.find(({ key }) => foreign.has(key))
  if (bad !== undefined) return foreignKey(bad.key)
  const { verdict, writes } = evaluateCharge(charge, (key) => states.get(key), atMs)
  if (refusal) return verdict.allowed && writes.size > 0 ? refusal : verdict
  for (const [key, { state }] of writes) states.set(key, state)
  return verdict
}
