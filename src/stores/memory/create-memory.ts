import type { Policy } from '../../policies/policy.js'
import type { Operation, Outcome } from '../operation.js'
import { type LocalLimit, setLocalStates } from '../shared/local-states.js'
import { asStoreError } from '../store-error.js'
import { applyToKey } from './apply-to-key.js'
import type { MemoryStore } from './contract.js'
import { decideCharge, decideInOverflow } from './decide-charge.js'
import type { Dumpable } from './dumpable.js'
import type { HashStart } from './key-hash.js'
import { MemoryStates } from './memory-states.js'
import { systemClock } from './system-clock.js'

/** The most keys of a memory store, unless its options say otherwise. */
export const DEFAULT_MAX_KEYS = 1_000_000

interface MemorySettings {
  readonly maxKeys?: number
  /** Returns milliseconds since the Unix epoch. Default: a clock that never steps. */
  readonly clock?: (() => number) | undefined
  /** Throws for operations that no limiter sends. Only a store that an application has needs it. */
  readonly check?: (operations: readonly Operation[]) => void
}

const { performance } = globalThis // read once: it is a getter, as slow as the clock itself
let originMs: number | undefined // read once: it is a slow getter

/** A memory store without documents, and the parts of it that a dump contains. */
interface CreatedMemory {
  readonly store: MemoryStore
  readonly dumpable: Dumpable
}

/**
 * Creates a memory store. Limiters use it for their own memory, to which no application has access. So they
 * bundle nothing that only `memoryStore` needs: its options, checks of operations, documents and dumps.
 */
export function createMemory(settings: MemorySettings = {}): CreatedMemory {
  const { maxKeys = DEFAULT_MAX_KEYS, clock, check } = settings
  let aheadMs = 0 // of this process's clock, because a restored store continues the clock of its dump
  const now = clock === undefined ? () => monotonicNow() + aheadMs : clock
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
    check?.(operations)
    const nowMs = now()
    return operations.map((operation) => applyOne(operation, nowMs))
  }

  setLocalStates(apply, { limitOf, createSibling: () => createMemory(settings).store })
  return {
    store: {
      name: 'memory',
      apply,
      get size() {
        return states.table.size
      },
    },
    dumpable: {
      states,
      now,
      systemNow: clock === undefined ? Date.now : now,
      setNow(nowMs) {
        if (clock === undefined) aheadMs += nowMs - now()
      },
    },
  }
}

/** Returns the system clock at process start plus the monotonic time since: it never steps. */
function monotonicNow(): number {
  originMs ??= performance.timeOrigin
  return originMs + performance.now()
}
