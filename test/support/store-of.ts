import type { Store } from 'headgate'
import type {
  ChargeResult,
  KeyedPolicy,
  MaybePromise,
  Operation,
  Outcome,
  Refund,
  Renew,
} from 'headgate/store'
import { applyOperations, customStore, type ReadState } from 'headgate/store'
import type { Parts } from '../../src/testing/conformance/store-calls.js'
import { thenMaybe } from '../../src/util/maybe-promise.js'
import type { TakenUnits } from './store-calls.js'

/** A verdict, or what a faulty store returns in its place. */
export type LooseVerdict = Omit<ChargeResult, 'type'>

/** What a store of a test does with each type of operation. The others do nothing, or are `apply`'s. */
export interface StoreMethods extends Omit<Store, 'name' | 'apply'> {
  readonly name?: string
  charge?(charges: readonly Parts[]): MaybePromise<readonly LooseVerdict[]>
  refund?(refunds: readonly Refund[]): MaybePromise<void>
  renew?(units: Renew): MaybePromise<number>
  forget?(keys: readonly KeyedPolicy[]): MaybePromise<void>
  /** Applies operations of all types that have no method. */
  apply?: Store['apply']
}

/** Creates a store that calls a method for each type of operation. */
export function storeOf({
  charge,
  refund,
  renew,
  forget,
  apply,
  name = 'test',
  ...rest
}: StoreMethods): Store {
  function applyOne(operation: Operation): MaybePromise<Outcome> {
    if (operation.type === 'charge' && charge) {
      const answer = charge([operation.parts])
      return thenMaybe(answer, (verdicts) => tagged(verdicts[0])) as MaybePromise<Outcome>
    }
    if (operation.type === 'refund' && refund)
      return thenMaybe(refund([operation]), () => ({ type: 'refund' }) as const)
    if (operation.type === 'forget' && forget)
      return thenMaybe(forget([operation]), () => ({ type: 'forget' }) as const)
    if (operation.type === 'renew' && renew)
      return thenMaybe(renew(operation), (resetAtMs) => ({ type: 'renew', resetAtMs }) as const)
    if (apply === undefined) throw new Error(`the test's store cannot ${operation.type}`)
    return thenMaybe(apply([operation]), ([outcome]) => outcome as Outcome)
  }

  return customStore({
    ...rest,
    name,
    apply(operations) {
      const charges = operations.filter((operation) => operation.type === 'charge')
      if (charge && charges.length === operations.length) {
        const answer = charge(charges.map(({ parts }) => parts))
        return thenMaybe(answer, (verdicts) =>
          Array.isArray(verdicts) ? (verdicts.map(tagged) as Outcome[]) : (verdicts as never),
        )
      }
      if (operations.length === 1) return thenMaybe(applyOne(operations[0] as Operation), (only) => [only])
      return (async () => {
        const outcomes: Outcome[] = []
        for (const operation of operations) outcomes.push(await applyOne(operation))
        return outcomes
      })()
    },
  })
}

/** Returns a verdict with its tag; anything else as it is. */
function tagged(verdict: unknown): unknown {
  const isObject = typeof verdict === 'object' && verdict !== null && !(verdict instanceof Error)
  return isObject ? { type: 'charge', ...verdict } : verdict
}

/** Returns the verdicts on charges, and what to write. */
export function decideCharges(charges: readonly Parts[], read: ReadState, nowMs: number) {
  const operations = charges.map((parts) => ({ type: 'charge', parts }) as const)
  const { outcomes, writes } = applyOperations(operations, read, nowMs)
  return { verdicts: outcomes as readonly ChargeResult[], writes }
}

/** Returns what to write for refunds. */
export function applyRefunds(receipts: readonly TakenUnits[], read: ReadState, nowMs: number) {
  const operations = receipts.map((receipt) => ({ ...receipt, type: 'refund' }) as const)
  return applyOperations(operations, read, nowMs).writes
}
