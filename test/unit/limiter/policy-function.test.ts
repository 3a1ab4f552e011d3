import { createLimiter, fixedWindow, type LimiterOptions, memoryStore, type Policy } from 'headgate'

type Plans = Readonly<Record<string, Policy>>

const PLANS: Plans = {
  free: fixedWindow({ limit: 2, window: '1h' }),
  paid: fixedWindow({ limit: 5, window: '1h' }),
}
const PLANS_APART: Plans = {
  free: fixedWindow({ limit: 2, window: '1h', onChange: 'reset' }),
  paid: fixedWindow({ limit: 5, window: '1h', onChange: 'reset' }),
}
const policyIn = (plans: Plans) => (plan: unknown) => plans[String(plan)] as Policy
const policyOf = policyIn(PLANS)
const key = () => 'one client'

function remaining(policy: LimiterOptions<unknown>['policy'], plans: readonly string[]) {
  const limiter = createLimiter<unknown>({ policy, key, store: memoryStore({ clock: () => 0 }) } as never)
  return plans.map(async (plan) => (await limiter.charge(plan)).remaining)
}

describe.each<[string, (policyFor: (plan: unknown) => Policy) => unknown]>([
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

test.each(['none', 'constructor', '__proto__', 'toString'])(
  'a function that finds no policy for the plan %s makes the charge throw, with the fix',
  async (plan) => {
    const limiter = createLimiter<unknown>({ policy: policyOf, key })
    const fix =
      /^createLimiter: .*policy must be a policy, got .*\. (Did you mean tokenBucket|Return one for each)/
    await expect(limiter.charge(plan)).rejects.toThrow(fix)
    const later = createLimiter<unknown>({ policy: async (each) => policyOf(each), key })
    await expect(later.charge(plan)).rejects.toThrow(fix)
    await expect(later.waitFor(plan)).rejects.toThrow(fix)
  },
)

test.each([undefined, null])(
  'a function that returns %p makes the charge throw, with the fix',
  async (none) => {
    const limiter = createLimiter<unknown>({ policy: (() => none) as never, key })
    const problem = `the result of policy must be a policy, got ${none}. Return one for each subject, such as plans`
    await expect(limiter.charge('any')).rejects.toThrow(problem)
  },
)

test('a function that returns no policy makes the charge throw', async () => {
  const limiter = createLimiter<unknown>({ policy: (() => ({ limit: 5 })) as never, key })
  await expect(limiter.charge('any')).rejects.toThrow('createLimiter: policy must be a policy')
})
