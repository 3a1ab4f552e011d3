import type { StoreOperation } from '../stores/shared/store-channel.js'
import { type Submit, submitOf } from '../stores/shared/submit.js'
import type { Charge, KeyedPolicy, Refund, StateChange, Store, Verdict } from '../stores/store.js'
import { asStoreError, type StoreError } from '../stores/store-error.js'
import { isPromise } from '../util/maybe-promise.js'
import { onlyVerdict, validateTime, validateVerdict } from './validate-verdict.js'

/** Stands for a reply that comes later; a store may reply with anything, even `undefined`. */
export const PENDING = Symbol('pending')

/** What the guard does with the store. */
export interface Operation<Item, Result> {
  readonly name: StoreOperation
  readonly keysOf: (item: Item) => readonly KeyedPolicy[]
  /** Returns the reply if it is known at once; else `PENDING`, and calls `settle` with it later. */
  readonly send: (item: Item, settle: (reply: unknown) => void) => unknown
  /** Validates a reply. `sentAtMs` is `undefined` for one that was known at once. */
  readonly read: (item: Item, reply: unknown, sentAtMs: number | undefined) => Result
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

/** Returns the operations of a store, as the guard sends them and reads their replies. */
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
    read(charge, reply, sentAtMs) {
      const verdict = validate(store, charge, reply)
      if (sentAtMs !== undefined) onVerdict?.(charge, verdict, sentAtMs)
      return verdict
    },
    onLate: (charge, outcome) => outcome instanceof Error || onLateVerdict?.(charge, outcome),
  }
  const renewing: Operation<Renewal, number> = {
    name: 'renew',
    keysOf: ({ units }) => [units],
    send: callbackOf(({ units }) => store.renew?.(units)),
    read: (_renewal, reply) => validateTime(store, reply),
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
      const reply = call(item)
      if (!isPromise(reply)) return reply
      Promise.resolve(reply).then(settle, (cause) => settle(asStoreError(store.name, cause)))
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
