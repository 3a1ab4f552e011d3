import type { Policy, State, Step } from '../../policies/policy.js'
import type { Evaluation } from '../shared/apply-batch.js'
import type { HashStart } from './key-hash.js'
import { isOverflowKey, overflowBuckets } from './overflow.js'
import { StateTable } from './state-table.js'

/** One sweep per this many charges, so that fresh states are removed even if no new keys arrive. */
const CHARGES_PER_SWEEP = 16

/** The states of a memory store: a table of keys, and the overflow buckets of keys without room. */
export class MemoryStates {
  readonly maxKeys: number
  readonly table: StateTable
  readonly overflow = overflowBuckets()
  #charged = 0

  constructor(maxKeys: number) {
    this.maxKeys = maxKeys
    this.table = new StateTable(maxKeys)
  }

  /** Counts a charge. Now and then, removes some fresh states. */
  countCharge(nowMs: number): void {
    if (++this.#charged % CHARGES_PER_SWEEP === 0) this.table.sweep(nowMs)
  }

  /**
   * Takes units of a key, which is `key` whole or between `start` and `end`. Returns no step without room.
   */
  take(
    policy: Policy,
    key: string,
    nowMs: number,
    cost: number,
    start?: HashStart,
    end?: string,
  ): Step | undefined {
    const { table } = this
    this.countCharge(nowMs)
    const isStored = table.seek(key, policy, start, end)
    const step = policy.take(isStored ? table.read() : undefined, nowMs, cost)
    if (step.next === undefined) return step
    if (isStored) table.write(step.next)
    else if (table.makeRoom(nowMs, 1)) table.add(policy, step.next)
    else return undefined
    return step
  }

  /** Returns the state of a key; that of an overflow bucket is then the most recently used one. */
  read(key: string, policy: Policy): State | undefined {
    if (!isOverflowKey(key)) return this.table.seek(key, policy) ? this.table.read().slice() : undefined
    const state = this.overflow.get(key)
    if (state !== undefined) this.overflow.set(key, state)
    return state
  }

  write(writes: Evaluation['writes']): void {
    for (const [key, { policy, state }] of writes) {
      if (isOverflowKey(key)) this.overflow.set(key, state)
      else this.put(this.table.seek(key, policy), policy, state)
    }
  }

  /** Writes the state of the key that was sought last. */
  put(isStored: boolean, policy: Policy, state: State | undefined): void {
    if (state === undefined) this.table.remove()
    else if (isStored) this.table.write(state)
    else this.table.add(policy, state)
  }
}
