import { knownOptions, optionalFunction, wholeNumber } from '../checks.js'
import { warnOnce } from '../warn-once.js'
import { decideParts } from './decide-parts.js'
import { StateTable } from './state-table.js'
import type { Charge, Part, Refund, Store, Verdict } from './store.js'

/** What a memory store is made of. */
export interface MemoryStoreOptions {
  /** The most keys held at once. Default 1,000,000. */
  maxKeys?: number
  /** The time in milliseconds since the Unix epoch, for simulations and tests. Default: a clock that never steps. */
  clock?: () => number
}

/** A store in this process: synchronous, exact, bounded. */
export interface MemoryStore extends Store {
  readonly name: 'memory'
  charge(charges: readonly Charge[]): readonly Verdict[]
  refund(refunds: readonly Refund[]): void
  forget(keys: readonly string[]): void
  /** How many keys are held. */
  readonly size: number
}

/**
 * The wall clock as it was when this module was loaded, carried on by the monotonic one: setting the system's clock
 * back or forth changes nothing.
 */
export function monotonicNow(): number {
  return performance.timeOrigin + performance.now()
}

/**
 * Keeps states in this process's memory: for one process, for tests, and as a stand-in while a shared store is away.
 *
 * - A decision is one synchronous step: no promise, and no timer, neither per key nor at all.
 * - At most `maxKeys` keys. States that equal fresh ones go first. When all are in use, room is made from those nearest
 *   to fresh, among 32 looked at, and never from a client that is at its limit. When there is no such room, newcomers
 *   share one overflow state per policy, and a process warning (`HEADGATE_MEMORY_FULL`) tells once.
 *
 * Throws a `TypeError` for wrong options.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  knownOptions('memoryStore', options, ['maxKeys', 'clock'], { max: 'maxKeys', size: 'maxKeys' })
  const maxKeys = wholeNumber('memoryStore', 'maxKeys', options.maxKeys ?? 1_000_000, 1, 16_000_000)
  optionalFunction('memoryStore', 'clock', options.clock)
  const now = options.clock ?? monotonicNow
  const table = new StateTable(maxKeys)

  function tellFull(): void {
    warnOnce(
      'HEADGATE_MEMORY_FULL',
      `headgate: the memory store holds maxKeys (${maxKeys}) clients, all of them in use. New clients share one limit ` +
        'until there is room. Raise maxKeys, or use a shared store.',
    )
  }

  function decideOne({ key, policy, cost }: Part, nowMs: number): Verdict {
    let entry = table.find(key)
    if (entry === undefined && cost > 0 && !table.makeRoom(nowMs, 1)) {
      tellFull()
      entry = table.overflow(policy)
    }
    const step = policy.take(entry?.state, nowMs, cost)
    if (step.next !== undefined) {
      if (entry === undefined) table.set(key, policy, step.next)
      else entry.state = step.next
    }
    return { allowed: step.allowed, atMs: nowMs, parts: [step] }
  }

  function decideMany(charge: Charge, nowMs: number): Verdict {
    let newcomers = 0
    const placed = charge.map((part) => {
      if (part.cost === 0 || table.find(part.key) !== undefined) return part
      newcomers++
      if (table.makeRoom(nowMs, newcomers)) return part
      tellFull()
      return { ...part, key: table.overflow(part.policy).key }
    })
    const { verdict, writes } = decideParts(placed, (key) => table.find(key)?.state, nowMs)
    for (const [key, { policy, state }] of writes) table.set(key, policy, state)
    return verdict
  }

  return {
    name: 'memory',
    charge(charges) {
      const nowMs = now()
      return charges.map((charge) => {
        const only = charge[0]
        return only !== undefined && charge.length === 1 ? decideOne(only, nowMs) : decideMany(charge, nowMs)
      })
    },
    refund(refunds) {
      const nowMs = now()
      for (const { key, policy, cost, takenAtMs } of refunds) {
        const state = table.find(key)?.state
        if (state === undefined) continue
        const left = policy.refund(state, nowMs, cost, takenAtMs)
        if (left === undefined) table.delete(key)
        else table.set(key, policy, left)
      }
    },
    forget(keys) {
      for (const key of keys) table.delete(key)
    },
    get size() {
      return table.size
    },
  }
}
