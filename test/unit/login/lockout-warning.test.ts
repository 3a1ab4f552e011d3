import { ban, consecutive, fixedWindow, loginGuard, memoryStore, slidingWindow, tokenBucket } from 'headgate'
import type { LoginPolicies } from '../../../src/login/policies.js'
import { recordWarnings } from '../../support/warnings.js'
import { guardedLogin, HOME, RIGHT } from './guarded-login.js'

const warnings = recordWarnings()

const ten = slidingWindow({ limit: 10, window: '1h' })
const banned = ban(ten, { after: 1, within: '1h', for: '1h' })

test.each<[string, Partial<LoginPolicies>, boolean]>([
  ['the defaults', {}, false],
  [
    'half of the account, over the same time',
    { account: slidingWindow({ limit: 20, window: '1h' }), accountAndAddress: ten },
    false,
  ],
  [
    'a longer window',
    { account: tokenBucket({ capacity: 20, refill: 20, every: '10m' }), accountAndAddress: ten },
    false,
  ],
  [
    'counts in a row of which one is half of the other',
    { account: consecutive({ limit: 20 }), accountAndAddress: consecutive({ limit: 10 }) },
    false,
  ],
  ['more than half of the account', { accountAndAddress: slidingWindow({ limit: 6, window: '30m' }) }, true],
  ['as many as the account, with a ban', { accountAndAddress: banned }, true],
  [
    'a shorter window, in which as many come back',
    {
      account: slidingWindow({ limit: 20, window: '1h' }),
      accountAndAddress: slidingWindow({ limit: 5, window: '10m' }),
    },
    true,
  ],
  [
    'fewer for the account than the default allows for one address',
    { account: fixedWindow({ limit: 9, window: '30m' }) },
    true,
  ],
  ['an account that never recovers', { account: consecutive({ limit: 50 }) }, true],
])('a guard with %s warns that one address can keep the owner out: %#', (_what, limits, isWarned) => {
  for (let i = 0; i < 2; i++) loginGuard({ field: 'username', store: memoryStore(), limits })
  expect(warnings()).toEqual(isWarned ? ['HEADGATE_LOGIN_LIMITS'] : [])
})

test('the warning names the guard, both limits and the fix', () => {
  loginGuard({ field: 'username', name: 'staff', limits: { accountAndAddress: banned } })
  expect(jest.mocked(process.emitWarning).mock.calls[0]?.[0]).toBe(
    'headgate: loginGuard "staff": limits.accountAndAddress (10 in 1h) lets one or two IP addresses use up ' +
      'limits.account (10 in 30m), and so lock out the owner. Lower the first to 5 in 30m, or raise the second. ' +
      'See https://headgate.github.io/headgate/troubleshooting#headgate_login_limits',
  )
})

test('one guesser keeps the owner out exactly where the guard warns of it', async () => {
  const statusOfOwner = async (limits: Partial<LoginPolicies>) => {
    const login = guardedLogin({ limits })
    for (let i = 0; i < 12; i++) await login.attempt('ada', `wrong ${i}`)
    return (await login.attempt('ada', RIGHT, HOME)).status
  }
  expect(await statusOfOwner({ accountAndAddress: banned })).toBe(429)
  expect(warnings()).toEqual(['HEADGATE_LOGIN_LIMITS'])
  // The recipe for rate-limiter-flexible.
  expect(
    await statusOfOwner({ account: slidingWindow({ limit: 20, window: '1h' }), accountAndAddress: banned }),
  ).toBe(200)
  expect(warnings()).toHaveLength(1)
})
