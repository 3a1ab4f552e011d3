import fc from 'fast-check'
import {
  ban,
  consecutive,
  fixedWindow,
  type Policy,
  quota,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import type { State } from 'headgate/store'
import { banNumbers } from './arbitrary-policies.js'

/** Policies of one kind: the old numbers, and the new ones. */
interface Change {
  readonly before: Policy
  readonly after: Policy
  /** The same policies with room for any history. */
  readonly roomy: readonly [Policy, Policy]
}

/** A limit that no history uses up. */
const ROOM = 1000

const limit = fc.integer({ min: 1, max: 60 })
const window = fc.integer({ min: 20, max: 5000 })
const debt = fc.integer({ min: 0, max: 20 })

function changeOf<Numbers extends object>(
  numbers: fc.Arbitrary<Numbers>,
  create: (numbers: Numbers) => Policy,
) {
  return fc.tuple(numbers, numbers).map(([old, next]) => changeFrom(create, old, next))
}

function changeFrom<Numbers extends object>(
  create: (numbers: Numbers) => Policy,
  old: Numbers,
  next: Numbers,
): Change {
  const [before, after] = [create(old), create(next)]
  const roomyOf = (each: Numbers) =>
    create({ ...each, ...('capacity' in each ? { capacity: ROOM } : { limit: ROOM }) })
  return { before, after, roomy: [roomyOf(old), roomyOf(next)] }
}

const bucketNumbers = fc.record({
  capacity: limit,
  refill: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1000, max: 5_000_000 })),
  every: fc.integer({ min: 1000, max: 60_000 }),
  debt,
})
const windowNumbers = fc.record({ limit, window, debt })

/** Changes of the numbers that a state of each kind does not depend on. */
const KINDS: Readonly<Record<string, fc.Arbitrary<Change>>> = {
  tokenBucket: changeOf(bucketNumbers, tokenBucket),
  fixedWindow: changeOf(windowNumbers, ({ window, ...rest }) =>
    fixedWindow({ ...rest, window: `${window}ms` }),
  ),
  'fixedWindow from the first request': changeOf(windowNumbers, ({ window, ...rest }) =>
    fixedWindow({ ...rest, window: `${window}ms`, startsAt: 'first-request' }),
  ),
  slidingWindow: fc
    .tuple(window, fc.integer({ min: 1, max: 12 }), fc.tuple(limit, debt), fc.tuple(limit, debt))
    .map(([windowMs, slices, [oldLimit, oldDebt], [newLimit, newDebt]]) =>
      changeFrom(
        ({ limit, debt }) => slidingWindow({ limit, debt, window: `${windowMs}ms`, slices }),
        { limit: oldLimit, debt: oldDebt },
        { limit: newLimit, debt: newDebt },
      ),
    ),
  slidingLog: changeOf(fc.record({ limit, window }), ({ window, ...rest }) =>
    slidingLog({ ...rest, window: `${window}ms` }),
  ),
  quota: changeOf(
    fc.record({ limit, debt, per: fc.constantFrom('day' as const, 'week' as const, 'month' as const) }),
    (numbers) => quota({ ...numbers, timeZone: 'America/New_York' }),
  ),
  consecutive: changeOf(fc.record({ limit }), consecutive),
}

const history = fc.array(
  fc.record({ waitMs: fc.nat(400), cost: fc.integer({ min: 1, max: 12 }), owes: fc.boolean() }),
  { maxLength: 30 },
)

/** The same, under both sets of numbers in turn. */
const mixedHistory = fc.array(
  fc.record({
    waitMs: fc.nat(400),
    cost: fc.integer({ min: 1, max: 12 }),
    owes: fc.boolean(),
    isNew: fc.boolean(),
  }),
  { maxLength: 30 },
)

const START_MS = 1_790_000_000_000

/** Units that were taken at a time. */
interface Charge {
  readonly atMs: number
  readonly cost: number
}

/** What a history does next. */
interface Step {
  readonly waitMs: number
  readonly cost: number
  readonly owes: boolean
}

/** Charges and penalties under the old numbers. */
function historyOf(policy: Policy, steps: readonly Step[]) {
  let nowMs = START_MS
  let state: State | undefined
  const charges: Charge[] = []
  for (const { waitMs, cost, owes } of steps) {
    nowMs += waitMs
    const { allowed, next } = policy.take(state, nowMs, cost, owes)
    state = next ?? state
    if (allowed) charges.push({ atMs: nowMs, cost })
  }
  return { state, nowMs, charges }
}

/** A charge with the policy that took it, and when that expected its units back. */
interface MixedCharge extends Charge {
  readonly policy: Policy
  readonly resetAtMs: number
}

/** How many milliseconds a step of a history waits for each of its own: a quota's periods are days. */
const paceOf = ({ periodAt }: Policy) => (periodAt === undefined ? 1 : 500_000)

/** Charges and penalties under both sets of numbers. */
function mixedHistoryOf({ before, after }: Change, steps: readonly (Step & { isNew: boolean })[]) {
  let nowMs = START_MS
  let state: State | undefined
  const charges: MixedCharge[] = []
  for (const { waitMs, cost, owes, isNew } of steps) {
    nowMs += waitMs * paceOf(before)
    const policy = isNew ? after : before
    const { allowed, next, resetAfterMs } = policy.take(state, nowMs, cost, owes)
    state = next ?? state
    if (allowed) charges.push({ atMs: nowMs, cost, policy, resetAtMs: nowMs + resetAfterMs })
  }
  return { state, nowMs, charges }
}

/** Returns the state that charges leave, each under its policy or all under one. */
function stateAfter(charges: readonly MixedCharge[], only?: Policy): State | undefined {
  return charges.reduce<State | undefined>(
    (state, { policy, atMs, cost }) => (only ?? policy).take(state, atMs, cost, true).next ?? state,
    undefined,
  )
}

/** The units in use, as whole ones: more than the limit if some are owed. */
function usedOf(policy: Policy, state: State | undefined, nowMs: number): number {
  const { remaining, debt: owed = 0 } = policy.take(state, nowMs, 0)
  return policy.limit - remaining + owed
}

/** What each policy shows at each moment. */
function readings(
  policies: readonly Policy[],
  moments: readonly number[],
  read: (policy: Policy, atMs: number) => number,
): number[] {
  return policies.flatMap((policy) => moments.map((atMs) => read(policy, atMs)))
}

/** How many tokens of a history a bucket without a capacity would miss, at a rate. */
function missingAfter(policy: Policy, charges: readonly Charge[], nowMs: number): number {
  const { intervalMs } = policy.spec as { intervalMs: number }
  let [missing, lastMs] = [0, START_MS]
  for (const { atMs, cost } of charges) {
    missing = Math.max(0, missing - (atMs - lastMs) / intervalMs) + cost
    lastMs = atMs
  }
  return Math.max(0, missing - (nowMs - lastMs) / intervalMs)
}

describe.each(Object.entries(KINDS))('other numbers of a %s', (kind, changes) => {
  test('find the units that are in use when they change, all of them and no more', () => {
    fc.assert(
      fc.property(changes, history, ({ before, after }, steps) => {
        const { state, charges } = historyOf(before, steps)
        const atMs = charges.at(-1)?.atMs ?? START_MS
        const used = usedOf(before, state, atMs)
        const found = usedOf(after, state, atMs)
        if (kind === 'slidingLog') {
          const inWindow = (state ?? []).filter((each) => each + after.windowMs > atMs)
          expect(found).toBe(Math.min(after.limit, inWindow.length))
        } else if (kind === 'fixedWindow from the first request')
          expect([used, 0]).toContain(found) // its window may have ended
        else expect(found).toBe(used)
      }),
      { numRuns: 200 },
    )
  })

  test('give an exact time to wait', () => {
    fc.assert(
      fc.property(changes, history, fc.integer({ min: 1, max: 12 }), ({ before, after }, steps, cost) => {
        const { state, nowMs } = historyOf(before, steps)
        const denied = after.take(state, nowMs, cost)
        if (denied.allowed || denied.retryAfterMs === Number.POSITIVE_INFINITY) return
        const kept = denied.next ?? state
        const wait = denied.retryAfterMs
        if (wait > 1) expect(after.take(kept, nowMs + wait - 1, cost).allowed).toBe(false)
        expect(after.take(kept, nowMs + wait, cost).allowed).toBe(true)
      }),
      { numRuns: 200 },
    )
  })

  test('give back by a refund at most what its charge took', () => {
    fc.assert(
      fc.property(changes, history, fc.nat(), fc.nat(2000), ({ before, after }, steps, which, waitMs) => {
        const { state, nowMs, charges } = historyOf(before, steps)
        const charge = charges[which % Math.max(1, charges.length)]
        if (state === undefined || charge === undefined) return
        const atMs = nowMs + waitMs
        const given = [before, after].flatMap((refunding) =>
          [undefined, charge.atMs + refunding.windowMs].flatMap((resetAtMs) => {
            const left = refunding.refund(state, atMs, charge.cost, charge.atMs, resetAtMs)
            const moments = [atMs, atMs + 100, atMs + 3000]
            return readings([before, after], moments, (reading, laterMs) => {
              return usedOf(reading, state, laterMs) - usedOf(reading, left, laterMs)
            })
          }),
        )
        expect(Math.min(...given)).toBeGreaterThanOrEqual(0)
        expect(Math.max(...given)).toBeLessThanOrEqual(charge.cost)
      }),
      { numRuns: 150 },
    )
  })
})

/** Moments after a history, in its pace. */
const LATER = [0, 1, 150, 700, 3000]

const momentsAfter = (nowMs: number, policy: Policy) => LATER.map((ms) => nowMs + ms * paceOf(policy))

/** Kinds whose windows begin with a charge have other windows in each history. */
const FROM_FIRST = 'fixedWindow from the first request'
/** Kinds whose states do not tell whether other numbers have brought units of a charge back already. */
const COARSE = ['tokenBucket', 'fixedWindow', 'quota']

const kindsWithout = (...left: readonly string[]) =>
  Object.entries(KINDS).filter(([kind]) => !left.includes(kind))

test.each(kindsWithout(FROM_FIRST))(
  'a %s whose numbers change back and forth leaves no more than one of both sets would after the same usage',
  (kind, changes) => {
    fc.assert(
      fc.property(changes, mixedHistory, (change, steps) => {
        const { before, after, roomy } = change
        const { state, nowMs, charges } = mixedHistoryOf(change, steps)
        const separate = roomy.map((only) => stateAfter(charges, only))
        const rounding = kind === 'tokenBucket' ? 1 : 0
        const above = readings([before, after], momentsAfter(nowMs, before), (reading, atMs) => {
          const least = Math.min(...separate.map((each) => usedOf(reading, each, atMs)))
          return usedOf(reading, state, atMs) - least + rounding
        })
        expect(Math.min(...above)).toBeGreaterThanOrEqual(0)
      }),
      { numRuns: 200 },
    )
  },
)

test.each(kindsWithout(...COARSE))(
  'a %s whose numbers change back and forth gives back by a refund only what its charge still adds',
  (_, changes) => {
    fc.assert(
      fc.property(changes, mixedHistory, fc.nat(), (change, steps, which) => {
        const { state, nowMs, charges } = mixedHistoryOf(change, steps)
        const charge = charges[which % Math.max(1, charges.length)]
        if (state === undefined || charge === undefined) return
        const { policy, cost, atMs: takenAtMs, resetAtMs } = charge
        const cheaper = stateAfter(charges.map((each) => (each === charge ? { ...each, cost: 1 } : each)))
        const refunded = policy.refund(state, nowMs, cost - 1, takenAtMs, resetAtMs)
        const policies = [change.before, change.after]
        const above = readings(policies, momentsAfter(nowMs, change.before), (reading, atMs) => {
          return usedOf(reading, refunded, atMs) - usedOf(reading, cheaper, atMs)
        })
        expect(Math.min(...above)).toBeGreaterThanOrEqual(0)
      }),
      { numRuns: 200 },
    )
  },
)

test.each(Object.entries(KINDS).filter(([kind]) => COARSE.includes(kind)))(
  'a %s gives nothing back by a refund once the numbers of its charge have, whatever others have counted since',
  (_, changes) => {
    fc.assert(
      fc.property(changes, mixedHistory, fc.nat(), (change, steps, which) => {
        const { state, nowMs, charges } = mixedHistoryOf(change, steps)
        const over = charges.filter(({ resetAtMs }) => resetAtMs <= nowMs)
        const charge = over[which % Math.max(1, over.length)]
        if (state === undefined || charge === undefined) return
        const refunded = charge.policy.refund(state, nowMs, charge.cost, charge.atMs, charge.resetAtMs)
        const usedWith = (left: State | undefined) =>
          readings([change.before, change.after], momentsAfter(nowMs, change.before), (reading, atMs) =>
            usedOf(reading, left, atMs),
          )
        expect(usedWith(refunded)).toEqual(usedWith(state))
      }),
      { numRuns: 200 },
    )
  },
)

test('a bucket whose numbers change back and forth refills at most at the faster of both rates', () => {
  const changes = changeOf(bucketNumbers, tokenBucket)
  fc.assert(
    fc.property(changes, mixedHistory, fc.nat(2000), (change, steps, waitMs) => {
      const { before, after } = change
      const { state, nowMs, charges } = mixedHistoryOf(change, steps)
      const atMs = nowMs + waitMs
      const missing = [before, after].map((each) => missingAfter(each, charges, atMs))
      expect(usedOf(after, state, atMs)).toBeGreaterThanOrEqual(Math.min(...missing) - 1e-6)
    }),
    { numRuns: 400 },
  )
})

test.each([
  ['fixedWindow', (windowMs: number) => fixedWindow({ limit: 60, window: `${windowMs}ms` })],
  [
    'fixedWindow from the first request',
    (windowMs: number) => fixedWindow({ limit: 60, window: `${windowMs}ms`, startsAt: 'first-request' }),
  ],
])('a %s of another length counts what its window has of the last window that was charged', (_, create) => {
  fc.assert(
    fc.property(window, window, history, fc.nat(2000), (oldMs, newMs, steps, waitMs) => {
      const [before, after] = [create(oldMs), create(newMs)]
      const { state, nowMs, charges } = historyOf(before, steps)
      const atMs = nowMs + waitMs
      const { atMs: lastMs = START_MS } = charges.at(-1) ?? {}
      const isAligned = before.spec.kind === 'fixed-window'
      const startMs = isAligned ? Math.floor(atMs / newMs) * newMs : atMs - newMs + 1
      const isCurrent = (isAligned ? lastMs : (state?.[1] ?? 0)) >= startMs
      expect(usedOf(after, state, atMs)).toBe(isCurrent ? usedOf(before, state, lastMs) : 0)
    }),
    { numRuns: 200 },
  )
})

test('a ban ends when its own numbers said, under any others, whatever is tried meanwhile', () => {
  const numbers = fc.record({ limit: fc.integer({ min: 1, max: 5 }), rules: banNumbers })
  const changes = changeOf(numbers, ({ limit, rules }) => {
    const inMs = { within: `${rules.within}ms`, for: rules.for.map((each) => `${each}ms`) }
    return ban(fixedWindow({ limit, window: '1s' }), { ...rules, ...inMs, onAttempt: 'nothing' })
  })
  fc.assert(
    fc.property(changes, history, fc.nat(2000), fc.nat(2000), ({ before, after }, steps, waitMs, forMs) => {
      const { state, nowMs } = historyOf(before, steps)
      if (state === undefined) return
      const endsAtMs = nowMs + (before.bannedForMs?.(state, nowMs) ?? 0)
      const atMs = Math.min(nowMs + waitMs, endsAtMs - 1)
      fc.pre(atMs >= nowMs) // it is banned
      const denied = after.take(state, atMs, 1)
      expect(denied).toMatchObject({ allowed: false, isBanned: true, next: undefined })
      expect(denied.retryAfterMs).toBeGreaterThanOrEqual(endsAtMs - atMs)
      const blocked = after.block?.(state, atMs, forMs) as State
      expect(atMs + (after.bannedForMs?.(blocked, atMs) ?? 0)).toBe(Math.max(endsAtMs, atMs + forMs))
    }),
    { numRuns: 400 },
  )
})

test('another sliding window starts afresh: it has keys of its own', async () => {
  const { keyCodeOf } = await import('../../src/policies/spec.js')
  const codeOf = (each: string, slices: number, most = 5) =>
    keyCodeOf(slidingWindow({ limit: most, window: each, slices }).spec)
  expect(codeOf('1m', 10, 500)).toBe(codeOf('1m', 10))
  expect(new Set([codeOf('1m', 10), codeOf('2m', 10), codeOf('1m', 20)]).size).toBe(3)
})

test('with 100 of 100 used, a limit of 50 leaves 0, and one of 1000 leaves 900', () => {
  for (const create of [
    (most: number) => tokenBucket({ capacity: most, refill: most, every: '1h' }),
    (most: number) => fixedWindow({ limit: most, window: '1h' }),
    (most: number) => slidingWindow({ limit: most, window: '1h' }),
    (most: number) => slidingLog({ limit: most, window: '1h' }),
    (most: number) => consecutive({ limit: most }),
  ]) {
    const { next } = create(100).take(undefined, START_MS, 100)
    expect(create(50).take(next, START_MS, 0).remaining).toBe(0)
    expect(create(1000).take(next, START_MS, 0).remaining).toBe(900)
  }
})
