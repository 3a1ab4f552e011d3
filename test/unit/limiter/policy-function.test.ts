import { createLimiter, fixedWindow, type LimiterOptions, memoryStore, type Policy } from 'headgate'

type Plans = Readonly<Record<string, Policy | undefined>>

const PLANS: Plans = {
  free: fixedWindow({ limit: 2, window: '1h' }),
  paid: fixedWindow({ limit: 5, window: '1h' }),
}
const PLANS_APART: Plans = {
  free: fixedWindow({ limit: 2, window: '1h', onChange: 'reset' }),
  paid: fixedWindow({ limit: 5, window: '1h', onChange: 'reset' }),
}
const policyIn = (plans: Plans) => (plan: unknown) => plans[String(plan)]
const policyOf = policyIn(PLANS)
const key = () => 'one client'

function remaining(policy: LimiterOptions<unknown>['policy'], plans: readonly string[]) {
  const limiter = createLimiter<unknown>({ policy, key, store: memoryStore({ clock: () => 0 }) } as never)
  return plans.map(async (plan) => (await limiter.charge(plan)).remaining)
}

describe.each<[string, (policyFor: (plan: unknown) => Policy | undefined) => unknown]>([
  ['at once', (policyFor) => policyFor],
  ['later', (policyFor) => async (plan: unknown) => policyFor(plan)],
])('a function that returns a policy %s chooses each charge’s policy', (_when, functionOf) => {
  const charged = ['free', 'paid', 'free', 'free', 'paid']

  test.each([
    ['the policies of a kind share a count', PLANS, [1, 3, 0, 0, 2]],
    ["with onChange: 'reset', each has its own count", PLANS_APART, [1, 4, 0, 0, 3]],
  ])('%s', async (_which, plans, expected) => {
    const policy = functionOf(policyIn(plans)) as LimiterOptions<unknown>['policy']
    expect(await Promise.all(remaining(policy, charged))).toEqual(expected)
  })
})

test('a function that returns undefined leaves a charge unlimited', async () => {
  const counts = await Promise.all(remaining(policyOf as never, ['none', 'none', 'none']))
  expect(counts).toEqual([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY])
})

test('a function that returns no policy makes the charge throw', () => {
  const limiter = createLimiter<unknown>({ policy: (() => ({ limit: 5 })) as never, key })
  expect(() => limiter.charge('any')).toThrow('createLimiter: policy must be a policy')
})
