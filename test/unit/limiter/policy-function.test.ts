import { createLimiter, fixedWindow, type LimiterOptions, memoryStore, type Policy } from 'headgate'

const PLANS: Readonly<Record<string, Policy | undefined>> = {
  free: fixedWindow({ limit: 2, window: '1h' }),
  paid: fixedWindow({ limit: 5, window: '1h' }),
}
const policyOf = (plan: unknown) => PLANS[String(plan)]
const key = () => 'one client'

function remaining(policy: LimiterOptions<unknown>['policy'], plans: readonly string[]) {
  const limiter = createLimiter<unknown>({ policy, key, store: memoryStore({ clock: () => 0 }) } as never)
  return plans.map(async (plan) => (await limiter.charge(plan)).remaining)
}

test.each<[string, LimiterOptions<unknown>['policy']]>([
  ['at once', policyOf as never],
  ['later', (async (plan: unknown) => policyOf(plan)) as never],
])(
  'a function that returns a policy %s chooses each charge’s policy, each with a count of its own',
  async (_when, policy) => {
    const counts = await Promise.all(remaining(policy, ['free', 'paid', 'free', 'free', 'paid']))
    expect(counts).toEqual([1, 4, 0, 0, 3])
  },
)

test('a function that returns undefined leaves a charge unlimited', async () => {
  const counts = await Promise.all(remaining(policyOf as never, ['none', 'none', 'none']))
  expect(counts).toEqual([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY])
})

test('a function that returns no policy makes the charge throw', () => {
  const limiter = createLimiter<unknown>({ policy: (() => ({ limit: 5 })) as never, key })
  expect(() => limiter.charge('any')).toThrow('createLimiter: policy must be a policy')
})
