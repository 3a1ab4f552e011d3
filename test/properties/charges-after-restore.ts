import fc from 'fast-check'
import {
  dumpMemory,
  fixedWindow,
  type MemoryStore,
  memoryStore,
  type Policy,
  restoreMemory,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import type { Operation, Outcome } from 'headgate/store'

/** States that fit into a slot and others, some of which expire while the charges go on. */
const POLICIES: readonly Policy[] = [
  tokenBucket({ capacity: 5, refill: 5, every: '1s' }),
  tokenBucket({ capacity: 5, refill: 5, every: '1d' }),
  fixedWindow({ limit: 3, window: '10s' }),
  slidingWindow({ limit: 4, window: '5s', slices: 3 }),
]
const CHARGES_AT_ONCE = 500

/** Leaves out the state, which a store may return with its figures, and shows all else. */
export const shown = (outcomes: readonly Outcome[]) =>
  JSON.stringify(outcomes, (name, value) => {
    if (name === 'next') return undefined
    return value === Number.POSITIVE_INFINITY ? 'never' : value
  })

/** Returns charges of keys drawn at random, the same ones for the same seed. */
function* chargesOf(keys: number, count: number, seed: number): Generator<Operation[]> {
  let drawn = seed | 1
  const draw = (below: number) => {
    drawn ^= drawn << 13
    drawn ^= drawn >>> 17
    drawn ^= drawn << 5
    return (drawn >>> 0) % below
  }
  for (let made = 0; made < count; made += CHARGES_AT_ONCE) {
    yield Array.from({ length: CHARGES_AT_ONCE }, () => {
      const key = draw(keys)
      const policy = POLICIES[key % POLICIES.length] as Policy
      return { type: 'charge', parts: [{ key: `hg:{${key}}`, policy, cost: 1 + draw(2) }] }
    })
  }
}

/** Checks that a restored store decides `charges` charges as the one that went on, for any number of keys. */
export function checkChargesAfterRestore(mostKeys: number, charges: number, numRuns: number): void {
  const keyCount = fc.integer({ min: 1, max: mostKeys })
  const property = fc.property(keyCount, fc.integer(), fc.nat(20_000), (keys, seed, pauseMs) => {
    let nowMs = 1_790_000_000_000
    const clock = () => nowMs
    const [wentOn, dumped, restored] = [0, 0, 0].map(() => memoryStore({ clock })) as [
      MemoryStore,
      MemoryStore,
      MemoryStore,
    ]
    for (const batch of chargesOf(keys, 2 * keys, seed))
      for (const store of [wentOn, dumped]) store.apply(batch)
    const bytes = dumpMemory(dumped)
    nowMs += pauseMs
    restoreMemory(restored, bytes)
    for (const batch of chargesOf(2 * keys, charges, seed + 1)) {
      expect(shown(restored.apply(batch))).toBe(shown(wentOn.apply(batch)))
      nowMs += 37
    }
  })
  fc.assert(property, { numRuns })
}
