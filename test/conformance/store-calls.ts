import type {
  Charge,
  KeyedPolicy,
  MaybePromise,
  Part,
  PartVerdict,
  Policy,
  Refund,
  State,
  Store,
  Verdict,
} from 'headgate'
import { submitOf } from '../../src/stores/shared/submit.js'

/** Keys of one policy, as a store forgets them. */
export function keyedPolicies(policy: Policy, ...keys: readonly string[]): KeyedPolicy[] {
  return keys.map((key) => ({ key, policy }))
}

export function part(key: string, policy: Policy, cost = 1): Part {
  return { key, policy, cost }
}

/** Charges once. */
export async function chargeOne(store: Store, ...charge: Part[]): Promise<Verdict> {
  const verdicts = await store.charge([charge])
  expect(verdicts).toHaveLength(1)
  return verdicts[0] as Verdict
}

/** Charges once by `submit`, or as `chargeOne` does if a store has none. */
export function submitOne(store: Store, ...charge: Part[]): Promise<unknown> {
  const submit = submitOf(store)
  return submit ? new Promise((resolve) => submit(charge, resolve)) : chargeOne(store, ...charge)
}

/** The only part of a charge that has one. */
export async function takeOne(store: Store, key: string, policy: Policy, cost = 1): Promise<PartVerdict> {
  const { parts } = await chargeOne(store, part(key, policy, cost))
  expect(parts).toHaveLength(1)
  return parts[0] as PartVerdict
}

/** Takes units. Returns their refund, as a limiter makes it from a decision. */
export async function receiptOf(store: Store, key: string, policy: Policy, cost: number): Promise<Refund> {
  const taken = part(key, policy, cost)
  const { allowed, atMs, parts } = await chargeOne(store, taken)
  expect(allowed).toBe(true)
  return { ...taken, takenAtMs: atMs, resetAtMs: atMs + (parts[0]?.resetAfterMs as number) }
}

/**
 * Charges a fresh key with each cost in turn. Every figure must be the policy's at the time of the verdict,
 * so this holds for a clock that goes on between two calls as for one that stands still.
 */
export async function expectFigures(
  store: Store,
  policy: Policy,
  costs: readonly number[],
  pause?: () => MaybePromise<void>,
): Promise<void> {
  let state: State | undefined
  let lastMs = Number.NEGATIVE_INFINITY
  for (const cost of costs) {
    const { atMs, allowed, parts } = await chargeOne(store, part('key', policy, cost))
    expect(Number.isFinite(atMs) && atMs >= lastMs).toBe(true)
    lastMs = atMs
    const step = policy.take(state, atMs, cost)
    state = step.next ?? state
    expect(parts.map(figures)).toEqual([figures(step)])
    expect(allowed).toBe(step.allowed)
    await pause?.()
  }
}

/** How much is left of each key, read with cost 0. */
export async function remainingOf(
  store: Store,
  policy: Policy,
  keys: readonly string[],
): Promise<(number | undefined)[]> {
  const peeks: Charge[] = keys.map((key) => [part(key, policy, 0)])
  const verdicts = await store.charge(peeks)
  return verdicts.map((verdict) => verdict.parts[0]?.remaining)
}

/** The figures of a step, without the state to keep. */
export function figures({
  allowed,
  remaining,
  resetAfterMs,
  retryAfterMs,
  moreAfterMs,
}: PartVerdict): PartVerdict {
  return { allowed, remaining, resetAfterMs, retryAfterMs, moreAfterMs }
}

/**
 * Checks that of each key exactly so many units are taken, and that further charges of all of them, one by
 * one, reach the limit, and not more.
 */
export async function expectTaken(
  store: Store,
  policy: Policy,
  keys: readonly string[],
  taken: number,
): Promise<void> {
  expect(await remainingOf(store, policy, keys)).toEqual(keys.map(() => policy.limit - taken))
  const charge = keys.map((key) => part(key, policy))
  for (let i = taken; i < policy.limit; i++)
    expect({ i, allowed: (await chargeOne(store, ...charge)).allowed }).toEqual({ i, allowed: true })
  expect((await chargeOne(store, ...charge)).allowed).toBe(false)
  expect(await remainingOf(store, policy, keys)).toEqual(keys.map(() => 0))
}

export function allowedCount(verdicts: readonly Verdict[]): number {
  return verdicts.filter(({ allowed }) => allowed).length
}
