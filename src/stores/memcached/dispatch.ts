import { groupBy } from '../../util/group-by.js'
import { batcher } from '../shared/batcher.js'
import type { Verdict } from '../store.js'
import { StoreError } from '../store-error.js'
import type { Swapping } from './cas-strategy.js'
import type { Done } from './counter-io.js'
import type { Counting } from './counter-strategy.js'
import { countersOf } from './counters.js'
import { itemKey } from './item-keys.js'
import { oneAtATime } from './one-at-a-time.js'
import {
  type ChargeOrLook,
  type KeyResult,
  type KeyWork,
  partOf,
  policyOf,
  type Result,
} from './operations.js'

/** Charges that go together. */
const MAX_CHARGES = 256
/** One batch is on its way while the next one is gathered. */
const MAX_IN_FLIGHT = 2
/** But where the server is far away, more are on their way: who comes waits no longer than this for others. */
const STALL_TIMEOUT_MS = 3

/** The two ways to decide work on keys. */
export interface KeyDecider {
  /** Decides charges and looks of one key each; those of one key together. */
  decide(works: readonly ChargeOrLook[]): Promise<readonly Verdict[]>
  /** Does work on a key whose policy keeps one state, after what waits for the same key already. */
  swapInTurn(key: string, works: readonly KeyWork[]): Promise<readonly KeyResult[]>
}

export function decideByKey(counted: Counting, swapped: Swapping, now: () => number): KeyDecider {
  const swapInTurn = oneAtATime<readonly KeyWork[], readonly KeyResult[]>(async (key, turns) => {
    const works = turns.flat()
    const results = [...(await swapped.run(key, works, policyOf(works[0] as KeyWork), now))]
    return turns.map(({ length }) => results.splice(0, length))
  })

  function decideKey(
    key: string,
    works: readonly ChargeOrLook[],
    nowMs: number,
    done: Done<readonly Result[]>,
  ): void {
    const counters = countersOf(policyOf(works[0] as ChargeOrLook))
    if (counters) counted.run(key, works, counters, nowMs, done)
    else
      swapInTurn(key, works).then(done as (results: readonly KeyResult[]) => void, (cause) =>
        done(asStoreError(cause)),
      )
  }

  const decide = batcher<ChargeOrLook, Verdict>(
    (works, answer) =>
      new Promise((resolve) => {
        const nowMs = now()
        const byKey = groupBy(works.keys(), (i) => itemKey(partOf(works[i] as ChargeOrLook).key))
        let open = byKey.size
        for (const [key, places] of byKey) {
          const own = places.map((i) => works[i] as ChargeOrLook)
          decideKey(key, own, nowMs, (outcome) => {
            places.forEach((place, i) => {
              answer(place, outcome instanceof StoreError ? outcome : (outcome[i] as Result))
            })
            if (--open === 0) resolve()
          })
        }
      }),
    { maxWeight: MAX_CHARGES, maxInFlight: MAX_IN_FLIGHT, stallTimeoutMs: STALL_TIMEOUT_MS },
  )

  return { decide, swapInTurn }
}

function asStoreError(cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause
  return new StoreError('memcached', cause instanceof Error ? cause.message : String(cause), { cause })
}
