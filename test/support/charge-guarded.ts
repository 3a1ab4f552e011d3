import type { Charge, Verdict } from 'headgate'
import type { GuardedStore } from '../../src/pipe/guarded-store.js'
import { fromCallback, type MaybePromise } from '../../src/util/maybe-promise.js'

/** Charges a guarded store: its verdict, or a promise of it. Throws or rejects with the error in its place. */
export function chargeGuarded(store: GuardedStore, charge: Charge): MaybePromise<Verdict> {
  return fromCallback<Verdict>((settle) => store.charge(charge, settle))
}
