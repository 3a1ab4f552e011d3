import type { Store } from 'headgate'
import type { Operation, Result, State } from 'headgate/store'
import { applyOperations, customStore, type StateWrite } from 'headgate/store'
import { type ManualClock, manualClock, type StoreUnderTest } from 'headgate/testing'

/** A correct store in pieces. */
export interface StorePieces {
  readonly clock: ManualClock
  readonly states: Map<string, { readonly state: State; readonly untilMs: number }>
  read(key: string): State | undefined
  write(writes: readonly StateWrite[]): void
  apply(operations: readonly Operation[]): readonly Result[]
}

/** The pieces that a test replaces by wrong ones. */
export type BrokenPieces = Partial<Omit<StorePieces, 'apply'> & Pick<Store, 'apply'>>

/** Makes a store in a `Map` that drops each state as early as the contract allows. */
export function mapStore(breakIt: (pieces: StorePieces) => BrokenPieces = () => ({})): StoreUnderTest {
  const clock = manualClock()
  const pieces: StorePieces = {
    clock,
    states: new Map(),
    read(key) {
      const entry = pieces.states.get(key)
      return entry && entry.untilMs > clock() ? entry.state : undefined
    },
    write(writes) {
      for (const { key, state, ttlMs, keepsExpiry } of writes) {
        const keptMs = (keepsExpiry && pieces.states.get(key)?.untilMs) ?? 0
        if (state === undefined) pieces.states.delete(key)
        else pieces.states.set(key, { state, untilMs: Math.max(clock() + ttlMs, keptMs) })
      }
    },
    apply(operations) {
      const { outcomes, writes } = applyOperations(operations, (key) => pieces.read(key), clock())
      pieces.write(writes)
      return outcomes as readonly Result[] // no read fails
    },
  }
  Object.assign(pieces, breakIt({ ...pieces }))
  return { store: customStore({ name: 'map', apply: pieces.apply }), advance: (ms) => void clock.advance(ms) }
}
