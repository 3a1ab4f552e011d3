import {
  type Charge,
  consecutive,
  fixedWindow,
  type KeyedPolicy,
  type MaybePromise,
  type Part,
  type PartVerdict,
  type Policy,
  type Refund,
  type State,
  type Store,
  slidingWindow,
  tokenBucket,
  type Verdict,
} from 'headgate'

/** A fresh, empty store, and what a test may do to its surroundings. */
export interface StoreUnderTest {
  readonly store: Store
  /** Lets at least so many milliseconds pass by the store's clock: a fake clock is set, a real one is waited for. */
  advance(ms: number): MaybePromise<void>
  /** Lets go of everything that was opened for this store. */
  close?(): MaybePromise<void>
}

/** What a store can do beyond the contract, so that tests are chosen by statement and never skipped by accident. */
export interface Capabilities {
  /**
   * `advance` sets a clock that stands still otherwise, so that every figure can be foretold. Without it the clock goes
   * on by itself, and any time may pass between two calls.
   */
  readonly settableClock: boolean
  /** Takes any string as a key. Without it: printable ASCII without blanks, at most 250 bytes. */
  readonly anyKey: boolean
  /**
   * A charge of several keys is decided in one moment, whatever its keys are. Without it, keys may live in shards
   * that are charged one after the other: charges that cross may deny each other, but never is more than a limit
   * admitted, and a denied charge has been refunded when its verdict arrives.
   */
  readonly atomicAcrossKeys: boolean
}

/** What the conformance suite needs to know of a store. */
export interface ConformanceSetup {
  makeStore(): MaybePromise<StoreUnderTest>
  readonly capabilities: Capabilities
}

/** Runs a test body with a fresh store, and closes it whatever happens. */
export type Using = (body: (made: StoreUnderTest) => Promise<void>) => () => Promise<void>

export function usingStores({ makeStore }: ConformanceSetup): Using {
  return (body) => async () => {
    const made = await makeStore()
    try {
      await body(made)
    } finally {
      await made.close?.()
    }
  }
}

/** Longer than any test takes, also against a real clock. */
export const LONG = '1000d'

type PolicyMaker = (limit: number) => Policy

/** Every policy, with a window that no test sees the end of. */
export const LONG_POLICIES: readonly (readonly [string, PolicyMaker])[] = [
  ['tokenBucket', (limit) => tokenBucket({ capacity: limit, refill: limit, every: LONG })],
  ['slidingWindow', (limit) => slidingWindow({ limit, window: LONG })],
  ['fixedWindow', (limit) => fixedWindow({ limit, window: LONG })],
  ['consecutive', (limit) => consecutive({ limit })],
]

/**
 * Every policy that time refills, with a window that a test against a real clock can wait for. Some of it, or all, may
 * be over by the next call.
 */
export const SHORT_POLICIES: readonly (readonly [string, PolicyMaker])[] = [
  ['tokenBucket', (limit) => tokenBucket({ capacity: limit, refill: limit, every: 200 })],
  ['slidingWindow', (limit) => slidingWindow({ limit, window: '200ms' })],
  ['fixedWindow', (limit) => fixedWindow({ limit, window: '200ms' })],
]

/** Keys of one policy, as a store forgets them. */
export function held(policy: Policy, ...keys: readonly string[]): KeyedPolicy[] {
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
 * Checks that of each key exactly so many units are taken, and that further charges of all of them, one by one, reach the
 * limit, and not more.
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
