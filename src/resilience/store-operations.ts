import type { StoreOperation } from '../stores/shared/store-channel.js'
import { type Submit, submitOf } from '../stores/shared/submit.js'
import type { Charge, KeyedPolicy, Refund, StateChange, Store, Verdict } from '../stores/store.js'
import { asStoreError, type StoreError } from '../stores/store-error.js'
import { isPromise } from '../util/maybe-promise.js'
import { onlyVerdict, validateTime, validateVerdict } from './validate-verdict.js'

/** Stands for an answer that comes later; a store may answer anything, also `undefined`. */
export const PENDING = Symbol('pending')

/** What the guard does with the store. */
export interface Operation<Item, Result> {
  readonly name: StoreOperation
  readonly keysOf: (item: Item) => readonly KeyedPolicy[]
  /** Returns the answer if it is known at once; else `PENDING`, and calls `settle` with it later. */
  readonly send: (item: Item, settle: (answer: unknown) => void) => unknown
  /** Validates an answer. `sentAtMs` is `undefined` for one that was known at once. */
  readonly read: (item: Item, answer: unknown, sentAtMs: number | undefined) => Result
  /** Takes an outcome that came after the time-out. */
  readonly onLate?: (item: Item, outcome: Result | StoreError) => void
}

/** Held units to renew, and who takes an outcome that comes after the time-out. */
interface Renewal {
  readonly units: Refund
  readonly onLate: ((outcome: number | StoreError) => void) | undefined
}

/** A change of one key's state. */
interface Update {
  readonly keyed: KeyedPolicy
  readonly change: StateChange
}

/** Called with each verdict that had to be awaited; `sentAtMs` is by `performance.now()`. */
export type OnVerdict = (charge: Charge, verdict: Verdict, sentAtMs: number) => void

/** Called with each verdict that came after the time-out. */
export type OnLateVerdict = (charge: Charge, verdict: Verdict) => void

/** Returns the operations of a store, as the guard sends them and reads their answers. */
export function operationsOf(
  store: Store,
  { onVerdict, onLateVerdict }: { onVerdict?: OnVerdict; onLateVerdict?: OnLateVerdict | undefined },
) {
  const submit = submitOf(store)
  const validate = submit ? validateVerdict : onlyVerdict

  const charging: Operation<Charge, Verdict> = {
    name: 'charge',
    keysOf: (charge) => charge,
    send: submit ? pending(submit) : callbackOf((charge) => store.charge([charge])),
    read(charge, answer, sentAtMs) {
      const verdict = validate(store, charge, answer)
      if (sentAtMs !== undefined) onVerdict?.(charge, verdict, sentAtMs)
      return verdict
    },
    onLate: (charge, outcome) => outcome instanceof Error || onLateVerdict?.(charge, outcome),
  }
  const renewing: Operation<Renewal, number> = {
    name: 'renew',
    keysOf: ({ units }) => [units],
    send: callbackOf(({ units }) => store.renew?.(units)),
    read: (_renewal, answer) => validateTime(store, answer),
    onLate: ({ onLate }, outcome) => onLate?.(outcome),
  }
  const refunding: Operation<readonly Refund[], true> = {
    name: 'refund',
    keysOf: (refunds) => refunds,
    send: callbackOf((refunds) => store.refund(refunds)),
    read: () => true,
  }
  const forgetting: Operation<readonly KeyedPolicy[], true> = {
    name: 'forget',
    keysOf: (keys) => keys,
    send: callbackOf((keys) => store.forget(keys)),
    read: () => true,
  }
  const updating: Operation<Update, true> = {
    name: 'update',
    keysOf: ({ keyed }) => [keyed],
    send: callbackOf(({ keyed, change }) => (store as Required<Store>).update(keyed, change)),
    read: () => true,
  }

  /** Makes a callback of the promise that a call may return. */
  function callbackOf<Item>(call: (item: Item) => unknown): Operation<Item, unknown>['send'] {
    return (item, settle) => {
      const answer = call(item)
      if (!isPromise(answer)) return answer
      Promise.resolve(answer).then(settle, (cause) => settle(asStoreError(store.name, cause)))
      return PENDING
    }
  }

  return { charging, renewing, refunding, forgetting, updating }
}

function pending(submit: Submit): Operation<Charge, Verdict>['send'] {
  return (charge, settle) => {
    submit(charge, settle)
    return PENDING
  }
}
