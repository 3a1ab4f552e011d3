import { given, knownOptions, optionalFunction, wholeNumber } from '../checks.js'
import { warnOnce } from '../warn-once.js'
import { decideParts } from './decide-parts.js'
import { StateTable } from './state-table.js'
import type { Charge, Held, Part, Refund, Store, Verdict } from './store.js'

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
  forget(held: readonly Held[]): void
  /** How many keys are held. */
  readonly size: number
}

const ORIGIN_MS = performance.timeOrigin // read once: it is a slow getter

/**
 * The wall clock as it was when the process started, carried on by the monotonic one: setting the system's clock
 * back or forth changes nothing.
 */
export function monotonicNow(): number {
  return ORIGIN_MS + performance.now()
}

/**
 * Keeps states in this process's memory: for one process, for tests, and as a stand-in while a shared store is away.
 *
 * - A decision is one synchronous step: no promise, and no timer, neither per key nor at all.
 * - At most `maxKeys` keys. States that equal fresh ones go first. When all are in use, room is made from those nearest
 *   to fresh, among 32 looked at, and never from a client that is at its limit. When there is no such room, newcomers
 *   share one overflow state per limit, and a process warning (`HEADGATE_MEMORY_FULL`) tells once.
 *
 * Throws a `TypeError` for wrong options.
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  knownOptions('memoryStore', options, ['maxKeys', 'clock'], { max: 'maxKeys', size: 'maxKeys' })
  const maxKeys = wholeNumber('memoryStore', 'maxKeys', given(options.maxKeys, 1_000_000), 1, 16_000_000)
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

  function decide(charge: Charge, nowMs: number): Verdict {
    const only = charge[0]
    return charge.length === 1 && only !== undefined ? decideOne(only, nowMs) : decideMany(charge, nowMs)
  }

  function decideOne({ key, policy, cost }: Part, nowMs: number): Verdict {
    let entry = table.find(key)
    let step = policy.take(entry?.state, nowMs, cost)
    if (entry === undefined && step.next !== undefined && !table.makeRoom(nowMs, 1)) {
      tellFull()
      entry = table.overflow(key, policy)
      step = policy.take(entry.state, nowMs, cost)
    }
    if (step.next !== undefined) {
      if (entry === undefined) table.set(key, policy, step.next)
      else entry.state = step.next
    }
    return { allowed: step.allowed, atMs: nowMs, parts: [step] }
  }

  function decideMany(charge: Charge, nowMs: number): Verdict {
    const read = (key: string) => table.find(key)?.state
    let outcome = decideParts(charge, read, nowMs)
    const homeless = withoutRoom(outcome.writes, nowMs)
    if (homeless.size > 0) {
      tellFull()
      const moved = charge.map((part) =>
        homeless.has(part.key) ? { ...part, key: table.overflow(part.key, part.policy).key } : part,
      )
      outcome = decideParts(moved, read, nowMs)
    }
    for (const [key, { policy, state }] of outcome.writes) table.set(key, policy, state)
    return outcome.verdict
  }

  /** The newcomers among the keys to write for which there is no room; the charge's own keys do not make any. */
  function withoutRoom(writes: ReadonlyMap<string, unknown>, nowMs: number): ReadonlySet<string> {
    const homeless = new Set<string>()
    let newcomers = 0
    for (const key of writes.keys()) {
      if (table.find(key) !== undefined) continue
      if (table.makeRoom(nowMs, newcomers + 1, writes)) newcomers++
      else homeless.add(key)
    }
    return homeless
  }

  return {
    name: 'memory',
    charge(charges) {
      const nowMs = now()
      const first = charges[0]
      if (charges.length === 1 && first !== undefined) return [decide(first, nowMs)]
      return charges.map((charge) => decide(charge, nowMs))
    },
    refund(refunds) {
      const nowMs = now()
      for (const { key, policy, cost, takenAtMs, resetAtMs } of refunds) {
        const payer = table.payer(key, policy)
        if (payer?.state === undefined) continue
        const left = policy.refund(payer.state, nowMs, cost, takenAtMs, resetAtMs)
        if (left === undefined) table.delete(payer.key)
        else payer.state = left
      }
    },
    forget(held) {
      for (const { key } of held) table.delete(key)
    },
    get size() {
      return table.size
    },
  }
}
