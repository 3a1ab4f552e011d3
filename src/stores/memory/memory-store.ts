import { callback, readOptions, withDefault } from '../../options/option-table.js'
import type { Policy } from '../../policies/policy.js'
import { show, whole } from '../../util/validate.js'
import type { Operation, Outcome } from '../operation.js'
import { type LocalLimit, setLocalStates } from '../shared/local-states.js'
import { checkOperations } from '../shared/run-operations.js'
import { asStoreError } from '../store-error.js'
import { applyToKey } from './apply-to-key.js'
import type { MemoryStore } from './contract.js'
import { decideCharge, decideInOverflow } from './decide-charge.js'
import { setDumpable } from './dumpable.js'
import type { HashStart } from './key-hash.js'
import { memoryDocuments } from './memory-documents.js'
import { MemoryStates } from './memory-states.js'
import { systemClock } from './system-clock.js'

/** Options of `memoryStore`. */
export interface MemoryStoreOptions {
  /** The most keys to hold at once, up to 100,000,000. Default 1,000,000. */
  maxKeys?: number
  /**
   * Returns milliseconds since the Unix epoch, for simulations and tests. Default: a clock that never steps.
   * Only a `quota` follows the system clock, which may step.
   */
  clock?: () => number
}

const OPTIONS = {
  rows: { maxKeys: withDefault(1_000_000, whole(1, 100_000_000)), clock: callback<() => number> },
  fixes: { max: 'maxKeys', size: 'maxKeys' },
}

const { performance } = globalThis // read once: it is a getter, as slow as the clock itself
let originMs: number | undefined // read once: it is a slow getter

/**
 * Creates a store in the memory of this process. It suits a single process and tests. Without the option
 * `store`, each limiter has its own.
 *
 * - **Synchronous.** A decision is one step without a promise. The store has no timers.
 * - **Memory.** A token bucket takes at most 50 bytes of heap. Memory grows and shrinks page by page,
 *   without a pause.
 * - **Keys are not kept.** States lie under 64-bit hashes of their keys. Each store hashes with a random
 *   secret, so no client can aim at another client's state. The odds that any two of ten million keys
 *   collide are one in 370,000.
 * - **When it is full.** At most `maxKeys` keys are held. Fresh states are removed first. Then the state
 *   nearest to fresh, among up to 32 examined, is evicted, but never that of a client at its limit. If there
 *   is none, new keys share one overflow bucket per limit. The process warning `HEADGATE_MEMORY_FULL`
 *   reports this once.
 *
 * Throws a `TypeError` for wrong options.
 *
 * @example
 * ```ts
 * import { memoryStore, rateLimit } from 'headgate'
 *
 * const store = memoryStore({ maxKeys: 100_000 })
 * const api = rateLimit({ name: 'api', limit: 100, window: '1m', store })
 * const search = rateLimit({ name: 'search', limit: 10, window: '1m', store })
 * ```
 */
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { maxKeys, clock } = readOptions('memoryStore', options, OPTIONS)
  let aheadMs = 0 // of this process's clock, because a restored store continues the clock of its dump
  const now = clock === undefined ? () => monotonicNow() + aheadMs : validateClock(clock)
  const calendarClock = clock === undefined ? systemClock(now) : undefined
  const states = new MemoryStates(maxKeys, calendarClock?.aheadAt ?? (() => 0))

  function limitOf(given: Policy, before: string, after: string, takesPlainOnly: boolean): LocalLimit {
    const policy = calendarClock?.policyOf(given) ?? given
    let start: HashStart | undefined // at the first charge: `KeyHash` needs a random secret
    return {
      now,
      take(identity, nowMs, cost) {
        start ??= states.table.startAfter(before)
        if (!states.table.hash(identity, start, after) && takesPlainOnly) return undefined
        const step = states.table.takeHashed(policy, identity, nowMs, cost)
        if (step !== undefined) return step
        const key = before + identity + after
        return decideInOverflow(states, [{ key, policy, cost }], new Set([key]), nowMs).parts[0]
      },
    }
  }

  function applyOne(given: Operation, nowMs: number): Outcome {
    try {
      const operation = calendarClock?.operationOf(given) ?? given
      if (operation.type === 'charge') return decideCharge(states, operation.parts, nowMs)
      return applyToKey(states, operation, nowMs)
    } catch (cause) {
      return asStoreError('memory', cause) // a policy of the user's own threw
    }
  }

  const apply: MemoryStore['apply'] = (operations) => {
    checkOperations('memoryStore', operations)
    const nowMs = now()
    return operations.map((operation) => applyOne(operation, nowMs))
  }

  setLocalStates(apply, { limitOf, createSibling: () => memoryStore(options) })
  setDumpable(apply, {
    states,
    now,
    systemNow: clock === undefined ? Date.now : now,
    setNow(nowMs) {
      if (clock === undefined) aheadMs += nowMs - now()
    },
  })
  return {
    name: 'memory',
    apply,
    documents: memoryDocuments(states),
    get size() {
      return states.table.size
    },
  }
}

/** Returns the system clock at process start plus the monotonic time since: it never steps. */
function monotonicNow(): number {
  originMs ??= performance.timeOrigin
  return originMs + performance.now()
}

/** Throws if a user's clock returns nonsense, which would leave states that deny forever. */
function validateClock(clock: () => number): () => number {
  return () => {
    const nowMs = clock()
    if (Number.isFinite(nowMs)) return nowMs
    throw new TypeError(`memoryStore: clock must return milliseconds, got ${show(nowMs)}.`)
  }
}
