import * as fc from 'fast-check'
import { concurrency, consecutive, type Policy, type Store, tokenBucket } from 'headgate'
import type { Refund, RenewResult, State } from 'headgate/store'
import { applyOperation, evaluateCharge } from '../../src/stores/shared/apply-batch.js'
import { expectAsModel, operationsOf } from '../../src/testing/conformance/as-model.js'
import {
  allowedCount,
  chargeOne,
  figures,
  type Parts,
  part,
  receiptOf,
  remainingOf,
} from '../../src/testing/conformance/store-calls.js'
import { chargeStore, forgetStore, refundStore, renewStore, takeOne } from './store-calls.js'

/** A fresh, empty store that keeps concurrency. */
export interface MadeStore {
  readonly store: Store
  /** The store's time. */
  now(): number | Promise<number>
  /** Lets so many slices of time pass, or makes all keys look so much older; negative: a step back. */
  age(slices: number): void | Promise<void>
  /** Whether `age` changes the stored states, and not the clock. */
  readonly shiftsStates: boolean
}

const POLICIES = [
  concurrency({ limit: 4, ttl: '1h', name: 'few' }),
  concurrency({ limit: 9, ttl: '1h', name: 'many' }),
  tokenBucket({ capacity: 6, refill: 6, every: '1000d' }),
  consecutive({ limit: 12 }),
] as const
/** The ttl of the policies that are aged. Their states begin with it. */
export const TTL_MS = 3_600_000
const SLICE_MS = TTL_MS / 8
const LONG = concurrency({ limit: 5, ttl: '1000d' })
const BUCKET = tokenBucket({ capacity: 2, refill: 2, every: '1000d' })

async function renewAll(store: Store, units: Refund): Promise<Refund> {
  return { ...units, resetAtMs: (await renewStore(store, units)) as number }
}

/** Defines the tests of what a store does with concurrency. */
export function describeConcurrency(name: string, makeStore: () => MadeStore | Promise<MadeStore>): void {
  describe(`${name} keeps concurrency`, () => {
    let made: MadeStore
    let store: Store
    beforeEach(async () => {
      made = await makeStore()
      store = made.store
    })

    test('as the policy has it, to the last bit', async () => {
      const charges = [1, 0, 3, 2, 6, 1, 1].map((cost) => operationsOf(LONG).charge(cost))
      await expectAsModel({ store, advance() {} }, charges)
    })

    test('exactly, among 2000 charges at once of which some name their key twice', async () => {
      const policy = concurrency({ limit: 300, ttl: '1h' })
      const charges = Array.from({ length: 2000 }, (_, i) =>
        i % 2 ? [part('hot', policy)] : [part('hot', policy), part('hot', policy)],
      )
      const verdicts = (await Promise.all(charges.map(async (charge) => chargeStore(store, [charge])))).flat()
      const units = verdicts.flatMap(({ allowed }, i) => (allowed ? (charges[i] ?? []) : []))
      expect(units).toHaveLength(300)
      expect(await remainingOf(store, policy, ['hot'])).toEqual([0])
    })

    test('and a release frees what it held', async () => {
      const units = await receiptOf(store, 'key', LONG, 5)
      expect(await takeOne(store, 'key', LONG)).toMatchObject({ allowed: false, retryAfterMs: 1000 })
      await refundStore(store, [{ ...units, cost: 2 }])
      expect(await remainingOf(store, LONG, ['key'])).toEqual([2])
      await refundStore(store, [{ ...units, cost: 3 }])
      expect((await takeOne(store, 'key', LONG, 0)).resetAfterMs).toBe(0)
    })

    test('and a renewal holds on, and is released from its new place', async () => {
      const policy = POLICIES[0]
      let units = await receiptOf(store, 'key', policy, 3)
      for (let i = 0; i < 4; i++) {
        await made.age(5)
        if (made.shiftsStates) units = aged(units, 5)
        const renewed = await renewAll(store, units)
        expect((renewed.resetAtMs as number) - (units.resetAtMs as number)).toBeCloseTo(5 * SLICE_MS, -4)
        units = renewed
        expect(await remainingOf(store, policy, ['key'])).toEqual([1])
      }
      await refundStore(store, [units])
      expect((await takeOne(store, 'key', policy, 0)).resetAfterMs).toBe(0)
    })

    test('and a renewal restores what was lost', async () => {
      const units = await receiptOf(store, 'key', LONG, 3)
      await forgetStore(store, [units])
      expect(await remainingOf(store, LONG, ['key'])).toEqual([5])
      const renewed = await renewAll(store, units)
      expect(await remainingOf(store, LONG, ['key'])).toEqual([2])
      await refundStore(store, [renewed])
      expect(await remainingOf(store, LONG, ['key'])).toEqual([5])
    })

    test('and many renewals at once reach each its own key', async () => {
      const keys = Array.from({ length: 700 }, (_, i) => `key-${i}`)
      const held = await Promise.all(keys.map((key) => receiptOf(store, key, LONG, 2)))
      await forgetStore(store, held.slice(0, 350))
      await Promise.all(held.map((units) => renewAll(store, units)))
      expect(new Set(await remainingOf(store, LONG, keys))).toEqual(new Set([3]))
    })

    test('all or nothing with a token bucket', async () => {
      const charge = [part('slots', LONG, 2), part('tokens', BUCKET)]
      expect(allowedCount([await chargeOne(store, ...charge), await chargeOne(store, ...charge)])).toBe(2)
      const full = await chargeOne(store, part('slots', LONG), part('tokens', BUCKET))
      expect(full.parts.map(({ allowed }) => allowed)).toEqual([true, false])
      expect(await remainingOf(store, LONG, ['slots'])).toEqual([1])
      const other = await chargeOne(store, part('slots', LONG, 2), part('other', BUCKET))
      expect(other.parts.map(({ allowed }) => allowed)).toEqual([false, true])
      expect(await remainingOf(store, BUCKET, ['tokens', 'other'])).toEqual([0, 2])
    })

    test('and no other policy is renewed', async () => {
      const units = await receiptOf(store, 'key', BUCKET, 1)
      await expect((async () => renewStore(store, units))()).rejects.toThrow(TypeError)
      expect(await remainingOf(store, BUCKET, ['key'])).toEqual([1])
    })

    test('on random traces, every figure equals that of the policies', async () => {
      await fc.assert(
        fc.asyncProperty(traces, async (steps) => compare(await makeStore(), steps)),
        { numRuns: 60, interruptAfterTimeLimit: 10_000 },
      )
    })
  })
}

interface Taking {
  readonly owner: string
  readonly policy: number
  readonly cost: number
}

type Step =
  | { readonly charges: readonly (readonly Taking[])[] }
  | { readonly release: number }
  | { readonly renew: number }
  | { readonly forget: string }
  | { readonly age: number }

const taking = fc.record<Taking>({
  owner: fc.constantFrom('a', 'b'),
  policy: fc.oneof(fc.constant(0), fc.nat(POLICIES.length - 1)),
  cost: fc.nat(3),
})
const charge = fc.array(taking, { minLength: 1, maxLength: 3 })
const traces = fc.array(
  fc.oneof<fc.WeightedArbitrary<Step>[]>(
    { weight: 5, arbitrary: fc.record({ charges: fc.array(charge, { minLength: 1, maxLength: 4 }) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        charges: fc.array(
          taking.map((one) => [one]),
          { maxLength: 5 },
        ),
      }),
    },
    { weight: 3, arbitrary: fc.record({ release: fc.nat() }) },
    { weight: 3, arbitrary: fc.record({ renew: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ forget: fc.constantFrom('a:0', 'b:0') }) },
    { weight: 3, arbitrary: fc.record({ age: fc.integer({ min: -12, max: 12 }) }) },
  ),
  { maxLength: 30 },
)

const isHeld = ({ policy }: Refund) => policy.holdsUnits
const keyOf = ({ owner, policy }: Taking) => `${owner}:${policy}`

function aged(units: Refund, slices: number): Refund {
  const { takenAtMs, resetAtMs = takenAtMs } = units
  return { ...units, takenAtMs: takenAtMs - slices * SLICE_MS, resetAtMs: resetAtMs - slices * SLICE_MS }
}

/** Returns a state of concurrency whose slices began so many slices earlier. */
export function agedState([index = 0, ...counts]: State, slices: number): State {
  return [index - slices, ...counts]
}

/**
 * Runs a trace through a store and through the policies. Renewals and releases that cross a slice's end are
 * rare.
 */
async function compare({ store, now, age, shiftsStates }: MadeStore, steps: readonly Step[]): Promise<void> {
  const states = new Map<string, State | undefined>()
  const policies = new Map<string, Policy>()
  let held: Refund[] = []

  async function charge(charges: readonly Parts[]): Promise<void> {
    const verdicts = await chargeStore(store, charges)
    for (const [i, { allowed, atMs, parts }] of verdicts.entries()) {
      const wanted = charges[i] as Parts
      const { verdict, writes } = evaluateCharge(wanted, (key) => states.get(key), atMs)
      expect({ allowed, parts: parts.map(figures) }).toEqual({
        allowed: verdict.allowed,
        parts: verdict.parts.map(figures),
      })
      for (const [key, { state }] of writes) states.set(key, state)
      for (const { key, policy } of wanted) policies.set(key, policy)
      if (!allowed) continue
      const taken = wanted.map((each, j) => ({
        ...each,
        type: 'refund' as const,
        takenAtMs: atMs,
        resetAtMs: atMs + (parts[j]?.resetAfterMs ?? 0),
      }))
      held.push(...taken.filter((units) => isHeld(units) && units.cost > 0))
    }
  }

  async function release(units: Refund): Promise<void> {
    held = held.filter((other) => other !== units)
    const { key, policy, cost, takenAtMs, resetAtMs } = units
    const state = states.get(key)
    states.set(key, state && policy.refund(state, await now(), cost, takenAtMs, resetAtMs))
    await refundStore(store, [units])
  }

  async function renew(units: Refund): Promise<void> {
    const { state, result } = applyOperation({ ...units, type: 'renew' }, states.get(units.key), await now())
    states.set(units.key, state)
    const renewed = (await renewStore(store, units)) as number
    expect(renewed).toBeCloseTo((result as RenewResult).resetAtMs, 2)
    held = held.map((other) => (other === units ? { ...units, resetAtMs: renewed } : other))
  }

  /**
   * Forgets fresh states, which a store may drop or keep: in an earlier time, a kept one would hold units
   * again.
   */
  async function forgetFresh(): Promise<void> {
    const nowMs = await now()
    for (const [key, policy] of policies) {
      if (policy.take(states.get(key), nowMs, 0).resetAfterMs > 0) continue
      states.delete(key)
      await forgetStore(store, [{ key, policy }])
    }
  }

  for (const step of steps) {
    if ('charges' in step) {
      const policyOf = (each: Taking) => POLICIES[each.policy] as Policy
      await charge(step.charges.map((each) => each.map((one) => part(keyOf(one), policyOf(one), one.cost))))
    } else if ('age' in step) {
      if (step.age < 0) await forgetFresh()
      await age(step.age)
      if (!shiftsStates) continue
      held = held.map((units) => aged(units, step.age))
      for (const [key, state] of states)
        if (state && policies.get(key)?.holdsUnits) states.set(key, agedState(state, step.age))
    } else if ('forget' in step) {
      await forgetStore(store, [{ key: step.forget, policy: POLICIES[0] }])
      states.delete(step.forget)
    } else {
      const units = held[('renew' in step ? step.renew : step.release) % Math.max(1, held.length)]
      if (units !== undefined) await ('renew' in step ? renew(units) : release(units))
    }
  }
  await charge(Array.from(policies, ([key, policy]) => [part(key, policy, 0)]))
}
