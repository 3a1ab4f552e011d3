import {
  applyOperations,
  applyRefunds,
  decideCharges,
  type State,
  type StateWrite,
  type Store,
} from 'headgate'
import { type ManualClock, manualClock, type StoreUnderTest } from 'headgate/testing'

/** A correct store in its parts, each of which a test may replace by a wrong one. */
export interface Parts {
  readonly clock: ManualClock
  readonly states: Map<string, { readonly state: State; readonly untilMs: number }>
  read(key: string): State | undefined
  write(writes: readonly StateWrite[]): void
  charge: Store['charge']
  refund: Store['refund']
  forget: Store['forget']
  apply: Required<Store>['apply']
}

/** Makes a store in a `Map` that drops each state as early as the contract allows. */
export function mapStore(breakIt: (parts: Parts) => Partial<Parts> = () => ({})): StoreUnderTest {
  const clock = manualClock()
  const parts: Parts = {
    clock,
    states: new Map(),
    read(key) {
      const entry = parts.states.get(key)
      return entry && entry.untilMs > clock() ? entry.state : undefined
    },
    write(writes) {
      for (const { key, state, ttlMs } of writes) {
        if (state === undefined) parts.states.delete(key)
        else parts.states.set(key, { state, untilMs: clock() + ttlMs })
      }
    },
    charge(charges) {
      const { verdicts, writes } = decideCharges(charges, (key) => parts.read(key), clock())
      parts.write(writes)
      return verdicts
    },
    refund(refunds) {
      parts.write(applyRefunds(refunds, (key) => parts.read(key), clock()))
    },
    forget(keys) {
      for (const { key } of keys) parts.states.delete(key)
    },
    apply(operations) {
      const { results, writes } = applyOperations(operations, (key) => parts.read(key), clock())
      parts.write(writes)
      return results
    },
  }
  Object.assign(parts, breakIt({ ...parts }))
  const { charge, refund, forget, apply } = parts
  return { store: { name: 'map', charge, refund, forget, apply }, advance: (ms) => void clock.advance(ms) }
}
