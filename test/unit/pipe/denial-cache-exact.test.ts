import fc from 'fast-check'
import {
  ban,
  concurrency,
  consecutive,
  createLimiter,
  type Decision,
  fixedWindow,
  type LimiterOptions,
  memoryStore,
  type Policy,
  quota,
  type Store,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { customStore } from 'headgate/store'

interface Subject {
  readonly user: string
  readonly group: string
  readonly cost: number
}

const START_MS = 1_790_000_000_123

/** A store that replies with promises, as a remote one does. Its clock is that of the fake timers. */
function remoteStore(): Store {
  const memory = memoryStore({ clock: () => Date.now() })
  return customStore({ name: 'remote', apply: async (operations) => memory.apply(operations) })
}

/** The policies of a limit. Their times differ, so that another one binds when the first has recovered. */
const POLICIES: readonly Policy[] = [
  tokenBucket({ capacity: 4, refill: 3, every: '1s' }),
  tokenBucket({ capacity: 1000, refill: 1000, every: '7s' }),
  fixedWindow({ limit: 3, window: '2s' }),
  fixedWindow({ limit: 3, window: '5s', startsAt: 'first-request' }),
  slidingWindow({ limit: 4, window: '3s', slices: 3 }),
  slidingLog({ limit: 4, window: '1500ms' }),
  consecutive({ limit: 5 }),
  quota({ limit: 6, per: 'day' }),
  concurrency({ limit: 3, ttl: '5s' }),
  ban(fixedWindow({ limit: 3, window: '1s' }), { after: 3, within: '5s', for: ['2s', '4s'] }),
  ban(tokenBucket({ capacity: 3, refill: 3, every: '1s' }), { after: 1, within: '5s', for: '1500ms' }),
]

type Limits = NonNullable<LimiterOptions<Subject>['limits']>

const policyArb = fc.constantFrom(...POLICIES)
/** A limit of each user, one of each group, and one of all. The other limiter has some of them. */
const limitsArb = fc
  .tuple(policyArb, policyArb, policyArb, fc.subarray([0, 1, 2], { minLength: 1 }))
  .map(([ofUser, ofGroup, ofAll, indexes]) => {
    const limits: Limits = [
      { name: 'user', policy: ofUser, key: ({ user }) => user, cost: ({ cost }) => cost },
      { name: 'group', policy: ofGroup, key: ({ group }) => group, cost: ({ cost }) => cost % 3 },
      { name: 'all', policy: ofAll, key: () => 'all', cost: ({ cost }) => (cost + 1) % 3 },
    ]
    return { limits, someLimits: limits.filter((_, i) => indexes.includes(i)) }
  })
const stepArb = fc.record({
  kind: fc.oneof(
    { arbitrary: fc.constant('charge'), weight: 12 },
    {
      arbitrary: fc.constantFrom('charge some', 'penalize', 'reward', 'refund', 'release', 'forget'),
      weight: 2,
    },
  ),
  user: fc.constantFrom('ann', 'bob'),
  group: fc.constantFrom('red', 'blue'),
  cost: fc.oneof({ arbitrary: fc.constant(1), weight: 3 }, fc.integer({ min: 0, max: 7 })),
  waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 400 }), fc.integer({ min: 0, max: 4000 })),
})

/** Two limiters of one name on one store: what is known by a charge of one serves the other. */
function limitersOn(
  { limits, someLimits }: Record<'limits' | 'someLimits', Limits>,
  denyCache: '1d' | false,
) {
  const options = { store: remoteStore(), denyCache, name: 'api' }
  return {
    all: createLimiter<Subject>({ ...options, limits }),
    some: createLimiter<Subject>({ ...options, limits: someLimits }),
    decision: undefined as Decision | undefined,
  }
}

type Step = typeof stepArb extends fc.Arbitrary<infer S> ? S : never

/** Takes a step. Returns the decision, if it was a charge. */
async function take(
  limiters: ReturnType<typeof limitersOn>,
  { kind, ...subject }: Step,
): Promise<Decision | undefined> {
  const { all, some, decision } = limiters
  if (kind === 'charge') limiters.decision = await all.charge(subject)
  else if (kind === 'charge some') limiters.decision = await some.charge(subject)
  else if (kind === 'refund') decision && (await all.refund(decision))
  else if (kind === 'release') decision && (await all.release(decision))
  else if (kind === 'forget') await all.forget(subject)
  else await all[kind](subject, subject.cost)
  return kind === 'charge' || kind === 'charge some' ? limiters.decision : undefined
}

/** The figures that a response shows, without where they come from. Sums of times differ by rounding. */
function shown({ limitName, parts }: Decision) {
  const rounded = (ms: number) => Math.round(ms * 1000) / 1000
  return {
    limitName,
    parts: parts.map((part) => ({
      ...part,
      retryAfterMs: rounded(part.retryAfterMs),
      resetAfterMs: rounded(part.resetAfterMs),
      moreAfterMs: rounded(part.moreAfterMs),
    })),
  }
}

beforeEach(() => jest.useFakeTimers({ now: START_MS }))
afterEach(() => jest.useRealTimers())

test('whatever is charged, a cached denial shows what the store would say', async () => {
  let cached = 0
  await fc.assert(
    fc.asyncProperty(
      limitsArb,
      fc.array(stepArb, { minLength: 20, maxLength: 40, size: 'max' }),
      async (limits, steps) => {
        jest.clearAllTimers()
        jest.setSystemTime(START_MS)
        const [withCache, without] = [limitersOn(limits, '1d'), limitersOn(limits, false)]
        for (const step of steps) {
          jest.advanceTimersByTime(step.waitMs + 1) // a denial sent in the millisecond of a forget is not cached
          const [decision, expected] = [await take(withCache, step), await take(without, step)]
          if (decision?.source === 'deny-cache') cached++
          expect(decision && shown(decision)).toEqual(expected && shown(expected))
        }
      },
    ),
    { numRuns: 100 },
  )
  expect(cached).toBeGreaterThan(100)
})
