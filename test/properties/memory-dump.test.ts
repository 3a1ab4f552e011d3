import fc from 'fast-check'
import { concurrency, dumpMemory, memoryStore, restoreMemory } from 'headgate'
import type { Operation } from 'headgate/store'
import { anyPolicy, costOf, type Promised, takes, waitMs } from './arbitrary-policies.js'
import { checkChargesAfterRestore, shown } from './charges-after-restore.js'

const atOnce: fc.Arbitrary<Promised> = fc
  .record({ limit: fc.integer({ min: 1, max: 9 }) })
  .map((options) => ({
    policy: concurrency({ ...options, ttl: '2s' }),
    most: () => options.limit,
    longestLockoutMs: 4000,
  }))

const policies = fc.array(fc.oneof(anyPolicy, atOnce), { minLength: 1, maxLength: 4 })

test('a restored store decides as the one that went on', () => {
  fc.assert(
    fc.property(
      policies,
      takes,
      takes,
      fc.double({ min: 1.6e12, max: 2.1e12, noNaN: true }),
      (all, before, after, startMs) => {
        let nowMs = startMs
        const clock = () => nowMs
        const stores = [memoryStore({ clock }), memoryStore({ clock })] as const
        const restored = memoryStore({ clock })

        /** The charges of a trace: of one key and of two, in turn. */
        const charges = function* (trace: typeof before): Generator<Operation> {
          for (const [i, take] of trace.entries()) {
            const { policy } = all[i % all.length] as Promised
            nowMs += waitMs(policy, take)
            const part = { key: `hg:${i % all.length}:{${i % 3}}`, policy, cost: costOf(policy, take) }
            const other = { ...part, key: `hg:${i % all.length}:{\u4e16}`, cost: 1 }
            yield { type: 'charge', parts: i % 2 === 0 ? [part] : [part, other] }
          }
        }
        for (const charge of charges(before)) for (const store of stores) store.apply([charge])
        const [wentOn, dumped] = stores
        restoreMemory(restored, dumpMemory(dumped))
        const decisions = Array.from(charges(after), (charge) => ({
          restored: shown(restored.apply([charge])),
          wentOn: shown(wentOn.apply([charge])),
        }))
        expect(decisions.map((each) => each.restored)).toEqual(decisions.map((each) => each.wentOn))
      },
    ),
    { numRuns: 300 },
  )
})

test('a restored store of up to 20,000 keys decides 40,000 charges as the one that went on', () => {
  checkChargesAfterRestore(20_000, 20_000, 2)
})
