import { createLimiter, fixedWindow, memoryStore, type Policy, sharedSettings, slidingWindow } from 'headgate'
import type { SettingsDocument } from '../../../src/limiter/settings-document.js'
import { until } from '../../support/servers/wait.js'

const PLANS: Readonly<Record<string, Policy>> = {
  free: fixedWindow({ limit: 100, window: '1d' }),
  pro: fixedWindow({ limit: 1000, window: '1d' }),
}
const BY = { by: 'ada', reason: 'a test' }

interface Customer {
  readonly id: string
  readonly plan: string
}

/** A limiter whose policy is that of a customer's plan, after it follows a document. */
async function follow(changes: Partial<SettingsDocument>) {
  const store = memoryStore()
  const settings = sharedSettings(store)
  const limiter = createLimiter<Customer>({
    name: 'api',
    policy: ({ plan }) => PLANS[plan] as Policy,
    key: ({ id }) => id,
    store,
    settings,
  })
  const failures: Error[] = []
  limiter.events.on('settingsFailed', (error) => failures.push(error))
  let isApplied = false
  limiter.events.on('settings', () => {
    isApplied = true
  })
  await limiter.charge({ id: 'acme', plan: 'free' }, { cost: 40 })
  await settings.change('api', (document) => ({ ...document, ...changes }), BY)
  await until('the document applies', () => isApplied)
  return { limiter, failures }
}

test('a document gives the plan that a function returns another limit, and its usage stays', async () => {
  const { limiter, failures } = await follow({ limits: { api: { limit: 500 } } })
  expect(await limiter.charge({ id: 'acme', plan: 'free' })).toMatchObject({ limit: 500, remaining: 459 })
  expect(await limiter.charge({ id: 'acme', plan: 'pro' })).toMatchObject({ limit: 500, remaining: 458 })
  expect(failures).toEqual([])
})

test('an override gives one customer another limit and window, of the kind that the function returns', async () => {
  const { limiter } = await follow({
    limits: {},
    overrides: [{ identity: 'acme', limits: { api: { limit: 500, window: '2d' } } }],
  })
  const decision = await limiter.charge({ id: 'acme', plan: 'free' })
  expect(decision).toMatchObject({ limit: 500, remaining: 459, parts: [{ windowMs: 2 * 86_400_000 }] })
  expect(await limiter.charge({ id: 'umbrella', plan: 'free' })).toMatchObject({ limit: 100, remaining: 99 })
})

test('numbers that do not fit what the function returns are reported, and that applies as it is', async () => {
  const { limiter, failures } = await follow({ limits: { api: { limit: 50, window: '9ms' } } })
  const sliding = slidingWindow({ limit: 5, window: '1d' })
  const given = PLANS as Record<string, Policy>
  given.sliding = sliding
  expect(await limiter.charge({ id: 'new', plan: 'sliding' })).toMatchObject({ limit: 5, remaining: 4 })
  expect(failures.map(({ message }) => message)).toEqual([expect.stringContaining('limits.api')])
})
