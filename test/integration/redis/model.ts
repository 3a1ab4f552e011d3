import type { Policy, Store } from 'headgate'
import type { ChargeResult, State } from 'headgate/store'
import { evaluateCharge } from '../../../src/stores/shared/apply-batch.js'
import { figures, type Parts } from '../../../src/testing/conformance/store-calls.js'
import { chargeStore } from '../../support/store-calls.js'

/** A store that is held against the TypeScript policies, and the states that these come to. */
export interface ModelStore {
  /** Charges in one call, in order, and checks every figure. */
  charge(charges: readonly Parts[]): Promise<readonly ChargeResult[]>
  /** Checks what an earlier call, made with the store itself, gave. */
  check(charges: readonly Parts[], verdicts: readonly ChargeResult[]): void
  /** By key: its policy, and the state that it must have at rest. */
  readonly states: ReadonlyMap<string, { readonly policy: Policy; readonly state: State | undefined }>
}

/** Watches over a store whose keys are fresh at the start, and that nobody else charges. */
export function modelStore(store: Store): ModelStore {
  const states = new Map<string, { policy: Policy; state: State | undefined }>()

  function expectVerdict({ atMs, ...got }: ChargeResult, charge: Parts): void {
    const { verdict, writes } = evaluateCharge(charge, (key) => states.get(key)?.state, atMs)
    expect({ ...got, parts: got.parts.map(figures) }).toEqual({
      type: 'charge',
      allowed: verdict.allowed,
      parts: verdict.parts.map(figures),
    })
    for (const { key, policy } of charge) states.set(key, states.get(key) ?? { policy, state: undefined })
    for (const [key, { policy, state }] of writes) states.set(key, { policy, state })
  }

  function check(charges: readonly Parts[], verdicts: readonly ChargeResult[]): void {
    expect(verdicts).toHaveLength(charges.length)
    verdicts.forEach((verdict, i) => {
      expectVerdict(verdict, charges[i] as Parts)
    })
  }

  return {
    states,
    check,
    async charge(charges) {
      const verdicts = await chargeStore(store, charges)
      check(charges, verdicts)
      return verdicts
    },
  }
}
