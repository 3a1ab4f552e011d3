import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  concurrency,
  consecutive,
  fixedWindow,
  type LoginGuardOptions,
  loginGuard,
  tokenBucket,
} from 'headgate'

type Options = LoginGuardOptions<IncomingMessage, ServerResponse>

test.each<[object, string]>([
  [
    {},
    "loginGuard: field must be the name of the field that holds the user name, got undefined. Write field: 'username'.",
  ],
  [{ field: '' }, 'loginGuard: field must be the name of the field that holds the user name, got "".'],
  [{ field: 7 }, 'loginGuard: field must be the name of the field that holds the user name, got 7.'],
  [{ account: 'username' }, 'loginGuard: account must be a function of the request, got "username".'],
  [{ field: 'a', account: () => 'a' }, 'loginGuard: give either field or account, not both. Leave one'],
  [{ account: () => 'a', normalize: String }, 'loginGuard: normalize applies only with field.'],
  [{ field: 'a', normalize: 'NFC' }, 'loginGuard: normalize must be a function, got a string.'],
  [{ field: 'a', address: '::1' }, 'loginGuard: address must be a function, got a string.'],
  [
    { field: 'a', limits: { account: 5 } },
    'loginGuard: limits: account must be a policy, got 5. Write slidingLog(',
  ],
  [
    { field: 'a', limits: { account: concurrency({ limit: 5 }) } },
    'loginGuard: limits: account must be a policy other than concurrency, got an object. Write slidingLog(',
  ],
  [{ field: 'a', limits: { ip: 5 } }, 'loginGuard: limits: there is no option "ip". Write address instead.'],
  [{ field: 'a', limits: [] }, 'loginGuard: limits: options must be an object, got an array of 0.'],
  [{ field: 'a', consecutive: 0 }, 'loginGuard: consecutive must be a whole number of at least 1, got 0.'],
  [
    { field: 'a', consecutive: true },
    'loginGuard: consecutive must be a whole number of at least 1, got true.',
  ],
  [{ field: 'a', onLockout: 'mail' }, 'loginGuard: onLockout must be a function, got a string.'],
  [{ field: 'a', succeeded: true }, 'loginGuard: succeeded must be a function, got true.'],
  [
    { field: 'a', succeeded: () => true, failureRedirect: '/' },
    'loginGuard: give either succeeded or failureRedirect, not both.',
  ],
  [
    { field: 'a', failureRedirect: 'login' },
    'loginGuard: failureRedirect must be a path such as \'/login\', an array of paths, or false, got "login". Did you',
  ],
  [
    { field: 'a', failureRedirect: [] },
    'loginGuard: failureRedirect must be at least one path, got an array of 0. Write failureRedirect: false.',
  ],
  [{ field: 'a', failureRedirect: ['/a', 5] }, 'loginGuard: failureRedirect must be a path'],
  [{ field: 'a', failureRedirect: '//host/login' }, 'loginGuard: failureRedirect must be a path'],
  [{ field: 'a', deviceCookie: true }, 'loginGuard: deviceCookie: options must be an object, got true.'],
  [
    { field: 'a', deviceCookie: {} },
    'loginGuard: deviceCookie: secret must be a string of at least 16 characters',
  ],
  [
    { field: 'a', deviceCookie: { secret: 'x'.repeat(16) } },
    "loginGuard: deviceCookie requires name, because its cookies are valid for one name. Write name: 'login'.",
  ],
  [
    { field: 'a', name: 'b', deviceCookie: { secret: 'x'.repeat(16), name: 'c' } },
    'loginGuard: deviceCookie: there is no option "name". Move name out of deviceCookie.',
  ],
  [
    { field: 'a', name: 'b', deviceCookie: { secret: 'x'.repeat(16) }, consecutive: false },
    'loginGuard: deviceCookie with consecutive: false requires an epoch that ends older cookies.',
  ],
  [
    { field: 'a', name: 'b', deviceCookie: { secret: [] } },
    'loginGuard: deviceCookie: secret must be a string of at least 16 characters, got an array of 0. Generate one with',
  ],
  [
    { field: 'a', name: 'b', deviceCookie: { secret: ['x'.repeat(16), 'short'] } },
    'loginGuard: deviceCookie: secret must be a string of at least 16 characters, got a string of 5 characters.',
  ],
  [
    { field: 'a', name: 'b', deviceCookie: { secret: ['x'.repeat(16), undefined] } },
    'loginGuard: deviceCookie: secret must be a string of at least 16 characters, got undefined.',
  ],
  [
    { field: 'a', name: 'b', deviceCookie: { secret: 'x'.repeat(16), epoch: 1 } },
    'loginGuard: deviceCookie: epoch must be a function, got a number.',
  ],
  [
    { field: 'a', deviceCookie: { secret: 'x'.repeat(16), lasts: -1 } },
    'loginGuard: deviceCookie: lasts must be a duration',
  ],
  [
    { field: 'a', deviceCookie: { secret: 'x'.repeat(16), maxAge: 1 } },
    'there is no option "maxAge". Write lasts instead.',
  ],
  [
    { field: 'a', retryAfter: 'exact' },
    'loginGuard: there is no option "retryAfter". Leave it out: Retry-After is the window of the account',
  ],
  [
    { field: 'a', accountInEvents: 'clear' },
    'loginGuard: there is no option "accountInEvents". Leave it out: events name the account by guard.accountId(req)',
  ],
  [
    { field: 'a', headers: 'draft' },
    'loginGuard: there is no option "headers". Leave it out: a guard sends no headers that say how many attempts are left.',
  ],
  [
    { field: 'a', key: () => 'a' },
    'loginGuard: there is no option "key". Write account: (req) => req.body?.username for the account',
  ],
  [{ field: 'a', feild: 'b' }, 'loginGuard: there is no option "feild". Did you mean field?'],
  [{ field: 'a', timeout: 0 }, 'loginGuard: timeout must be a duration from 1 ms to 1m'],
  [
    { field: 'a', statusCode: 200 },
    'loginGuard: statusCode must be a whole number from 400 to 599, got 200.',
  ],
  [{ field: 'a', store: {} }, 'loginGuard: store must be a store, got an object.'],
  [
    { field: 'a', onStoreError: 'open' },
    "loginGuard: onStoreError must be one of 'allow', 'deny', 'local', got \"open\".",
  ],
  [
    { field: 'a', secret: 'short' },
    'loginGuard: secret must be a string of at least 16 characters, got a string of 5 characters.',
  ],
  [{ field: 'a', allow: ['x'] }, 'loginGuard: allow'],
])('%j is rejected with the fix', (options, message) => {
  expect(() => loginGuard(options as Options)).toThrow(message)
  expect(() => loginGuard(options as Options)).toThrow(TypeError)
})

test.each([
  ['hunter2'],
  [['hunter2']],
  [['sixteen characters or more', 'hunter2']],
  [[['sixteen characters or more', 'hunter2']]],
  [{ secret: 'hunter2' }],
  [1234567890123456],
  [[1234567890123456]],
  [[1234567890123456n]],
])('no error shows a secret of device cookies (%#)', (wrong) => {
  const options = { field: 'a', name: 'b', deviceCookie: { secret: wrong } } as unknown as Options
  expect(() => loginGuard(options)).toThrow(/^(?!.*(hunter2|sixteen|1234)).*deviceCookie: secret must be/)
})

test('describe returns a row for each default limit', () => {
  expect(loginGuard({ field: 'username' }).describe()).toEqual([
    {
      limit: 'address',
      key: 'address',
      policy: 'ban-sliding-window: 50 in 1h; after 500 denials in 1h banned for 1h, 6h, 1d',
    },
    {
      limit: 'account-and-address',
      key: 'account, address',
      policy: 'ban-sliding-log: 5 in 30m; after 5 denials in 30m banned for 30m, 2h, 6h',
    },
    { limit: 'account', key: 'account', policy: 'sliding-log: 10 in 30m' },
    { limit: 'consecutive', key: 'account', policy: 'consecutive: 100' },
  ])
})

test('describe returns the limits that were given, and their keys with device cookies', () => {
  const guard = loginGuard({
    field: 'username',
    name: 'otp',
    deviceCookie: { secret: 'sixteen characters or more', epoch: () => 1 },
    limits: {
      address: tokenBucket({ capacity: 20, refill: 40, every: '1h' }),
      account: consecutive({ limit: 3 }),
      accountAndAddress: fixedWindow({ limit: 3, window: '1d' }),
    },
    consecutive: false,
  })
  expect(guard.describe()).toEqual([
    {
      limit: 'address',
      key: 'address of unknown browsers',
      policy: 'token-bucket: 20 in 30m',
    },
    {
      limit: 'account-and-address',
      key: 'account, browser, address',
      policy: 'fixed-window: 3 in 1d',
    },
    { limit: 'account', key: 'account, browser', policy: 'consecutive: 3' },
  ])
})
