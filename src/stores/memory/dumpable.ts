import { processWide } from '../../util/process-wide.js'
import type { Store } from '../store.js'
import type { MemoryStates } from './memory-states.js'

/** The parts of a memory store that a dump contains, and that a restored dump changes. */
export interface Dumpable {
  readonly states: MemoryStates
  /** Returns the time of the store's clock. */
  now(): number
  /** Returns the time of the system clock, which processes share. */
  systemNow(): number
  /** Sets the store's clock, unless the application has passed one. */
  setNow(nowMs: number): void
}

const dumpables = processWide('dumpables', () => new WeakMap<Store['apply'], Dumpable>())

/** Lets a store be dumped and restored. */
export function setDumpable(apply: Store['apply'], dumpable: Dumpable): void {
  dumpables.set(apply, dumpable)
}

export function dumpableOf({ apply }: Store): Dumpable | undefined {
  return dumpables.get(apply)
}
