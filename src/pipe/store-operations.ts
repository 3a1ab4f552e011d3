import type { Operation, Result } from '../stores/operation.js'
import type { StoreOperation } from '../stores/shared/store-channel.js'
import { type Submit, submitOf } from '../stores/shared/submit.js'
import type { Charge, KeyedPolicy, Refund, Store, Verdict } from '../stores/store.js'
import { asStoreError, type StoreError } from '../stores/store-error.js'
import { isPromise } from '../util/maybe-promise.js'
import { onlyResult, onlyVerdict, validateTime, validateVerdict } from './validate-verdict.js'

/** Stands for a reply that comes later; a store may reply with anything, even `undefined`. */
export const PENDING = Symbol('pending')

/** How the guard calls one method of the store. */
export interface Call<Item, Outcome> {
  readonly name: StoreOperation
  readonly keysOf: (item: Item) => readonly KeyedPolicy[]
  /** Returns the reply if it is known at once; else `PENDING`, and calls `settle` with it later. */
  readonly send: (item: Item, settle: (reply: unknown) => void) => unknown
  /** Validates a reply. `sentAtMs` is `undefined` for one that was known at once. */
  readonly read: (item: Item, reply: unknown, sentAtMs: number | undefined) => Outcome
  /** Takes an outcome that came after the time-out. */
  readonly onLate?: (item: Item, outcome: Outcome | StoreError) => void
}

/** Held units to renew, and who takes an outcome that comes after the time-out. */
interface Renewal {
  readonly units: Refund
  readonly onLate: ((outcome: number | StoreError) => void) | undefined
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

  const charging: Call<Charge, Verdict> = {
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
  const renewing: Call<Renewal, number> = {
    name: 'renew',
    keysOf: ({ units }) => [units],
    send: callbackOf(({ units }) => store.renew?.(units)),
    read: (_renewal, reply) => validateTime(store, reply),
    onLate: ({ onLate }, outcome) => onLate?.(outcome),
  }
  const refunding: Call<readonly Refund[], true> = {
    name: 'refund',
    keysOf: (refunds) => refunds,
    send: callbackOf((refunds) => store.refund(refunds)),
    read: () => true,
  }
  const forgetting: Call<readonly KeyedPolicy[], true> = {
    name: 'forget',
    keysOf: (keys) => keys,
    send: callbackOf((keys) => store.forget(keys)),
    read: () => true,
  }
  const applying: Call<Operation, Result> = {
    name: 'apply',
    keysOf: (operation) => [operation],
    send: callbackOf((operation) => store.apply?.([operation])),
    read: (operation, reply) => onlyResult(store, operation, reply),
  }

  /** Makes a callback of the promise that a call may return. */
  function callbackOf<Item>(call: (item: Item) => unknown): Call<Item, unknown>['send'] {
    return (item, settle) => {
      const reply = call(item)
      if (!isPromise(reply)) return reply
      Promise.resolve(reply).then(settle, (cause) => settle(asStoreError(store.name, cause)))
      return PENDING
    }
  }

  return { charging, renewing, refunding, forgetting, applying }
}

function pending(submit: Submit): Call<Charge, Verdict>['send'] {
  return (charge, settle) => {
    submit(charge, settle)
    return PENDING
  }
}
