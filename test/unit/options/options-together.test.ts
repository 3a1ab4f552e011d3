import {
  ban,
  byField,
  byIp,
  createLimiter,
  leased,
  loginGuard,
  memoryStore,
  rateLimit,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { mysqlStore } from 'headgate/mysql'
import { postgresStore } from 'headgate/postgres'
import { readOptions } from '../../../src/options/option-table.js'

const policy = tokenBucket({ capacity: 5, refill: 5, every: '1m' })

/** Wrong options, by who reads them, and the beginning of each line about one. */
const SEVERAL: readonly (readonly [string, () => unknown, readonly string[]])[] = [
  [
    'rateLimit',
    () => rateLimit({ limit: 0, window: 'soon', headers: 'all', timeout: 0, stauts: 1 } as never),
    [
      'there is no option "stauts".',
      'limit must be a whole number of at least 1, got 0. Did you mean limit: 1?',
      'window must be a duration',
      'timeout must be a duration from 1 ms',
      "headers must be one of 'legacy', 'draft', 'both', 'none', got \"all\".",
    ],
  ],
  [
    'rateLimit',
    () =>
      rateLimit({
        limits: [{ policy: 5 }, { policy, cost: -1, name: 'a b' }, { name: 'c' }],
        mode: 'x',
      } as never),
    [
      'limits[0]: policy must be a policy, got 5.',
      'limits[1]: name must be 1 to 64 letters',
      'limits[1]: cost must be a whole number of at least 0, got -1.',
      'limits[2]: no limit is set. Write limit and window',
      'mode must be one of',
    ],
  ],
  [
    'rateLimit',
    () => rateLimit({ limits: [{ policy: 5, cost: -1 }] } as never),
    ['limits[0]: policy must be a policy', 'limits[0]: cost must be'],
  ],
  [
    'createLimiter',
    () =>
      createLimiter({ policy, fallbackShare: 0.5, onStoreError: 'deny', lease: {}, prefix: 'a b' } as never),
    [
      'there is no option "lease". Write store: leased(redisStore(client), { processes: 8 }).',
      'prefix must be 1 to 64',
      "fallbackShare applies only with onStoreError: 'local'",
    ],
  ],
  [
    'leased',
    () => leased(memoryStore(), { hold: '1m', processes: 0 }),
    [
      'store must be shared by several processes, got memoryStore()',
      'hold must be from 10 ms to 10 s',
      'processes must be a whole number',
    ],
  ],
  [
    'loginGuard',
    () =>
      loginGuard({
        field: 7,
        limits: { account: 5, ip: policy },
        consecutive: 0,
        statusCode: 200,
      } as never),
    [
      'statusCode must be a whole number from 400 to 599',
      'field must be the name of the field that holds the user name, got 7.',
      'limits: there is no option "ip".',
      'limits: account must be a policy, got 5.',
      'consecutive must be a whole number of at least 1, got 0.',
    ],
  ],
  [
    'loginGuard',
    () => loginGuard({ onLockout: 'mail', succeeded: () => true, failureRedirect: '/' } as never),
    [
      'onLockout must be a function',
      'field must be the name of the field that holds the user name',
      'give either succeeded or failureRedirect, not both.',
    ],
  ],
  [
    'loginGuard',
    () => loginGuard({ field: 'a', deviceCookie: { secret: 'short', lasts: -1, path: '/' } } as never),
    [
      'deviceCookie: there is no option "path".',
      'deviceCookie: secret must be a string of at least 16 characters',
      'deviceCookie: lasts must be a duration',
    ],
  ],
  ['byIp', () => byIp({ ipv6Prefix: 0, trustProxy: 'x' }), ['ipv6Prefix must', 'trustProxy must']],
  [
    'tokenBucket',
    () => tokenBucket({ capacity: 0, refill: 0.5, evry: '1m', name: '' } as never),
    ['there is no option "evry". Did you mean every?', 'capacity must', 'refill must', 'name must'],
  ],
  [
    'slidingWindow',
    () => slidingWindow({ limit: 0, window: '10ms', slices: 11 }),
    ['limit must', 'slices must be at most one per millisecond of the window, got 11.'],
  ],
  ['ban', () => ban(policy, { after: 0, within: '1m', for: [] }), ['after must', 'for must']],
  ['memoryStore', () => memoryStore({ maxKeys: 0, clock: 5 } as never), ['maxKeys must', 'clock must']],
  ['mysqlStore', () => mysqlStore('db' as never, { table: '' }), ['pool must', 'table must']],
  ['postgresStore', () => postgresStore('db' as never, { table: '' }), ['pool must', 'table must']],
  [
    'byField',
    () => byField('a', { missing: 'x', normalize: 5 } as never),
    ['normalize must', 'missing must'],
  ],
]

test.each(SEVERAL)('%s reports everything that is wrong at once (%#)', (owner, make, lines) => {
  const error = errorOf(make)
  expect(error).toBeInstanceOf(TypeError)
  const [first, ...rest] = error.message.split('\n')
  expect(first).toBe(`${owner}: ${lines.length} options are wrong:`)
  expect(rest.map((line, i) => line.slice(0, (lines[i] ?? '').length + 2))).toEqual(
    lines.map((line) => `- ${line}`),
  )
})

/** What depends on an option that is wrong itself is not reported beside it. */
const DEPENDENT: readonly (readonly [string, () => unknown, string])[] = [
  ['window beside a wrong limit', () => rateLimit({ limit: 0 } as never), 'rateLimit: limit must'],
  ['limit beside a wrong window', () => rateLimit({ window: 'soon' } as never), 'rateLimit: window must'],
  [
    'fallbackShare beside a wrong onStoreError',
    () => rateLimit({ policy, fallbackShare: 0.5, onStoreError: 'x' } as never),
    'rateLimit: onStoreError must',
  ],
  [
    'a missing option beside a misspelt one',
    () => tokenBucket({ capcity: 5, refill: 5, every: '1m' } as never),
    'tokenBucket: there is no option "capcity". Did you mean capacity?',
  ],
  [
    'a missing limit beside a misspelt one',
    () => rateLimit({ limti: 5, window: '1m' } as never),
    'rateLimit: there is no option "limti". Did you mean limit?',
  ],
  [
    'slices beside a wrong window',
    () => slidingWindow({ limit: 5, window: 'soon', slices: 50 }),
    'slidingWindow: window must',
  ],
]

test.each(DEPENDENT)('an error says nothing of %s', (_what, make, begins) => {
  const { message } = errorOf(make)
  expect(message.split('\n')).toHaveLength(1)
  expect(message.startsWith(begins)).toBe(true)
})

test('a factory that fails lays no claim to its store', () => {
  const store = memoryStore()
  expect(() => rateLimit({ policy, store, mode: 'x' as never })).toThrow('mode must be')
  expect(() => rateLimit({ policy, store })).not.toThrow()
})

test('an error of an option other than a TypeError is rethrown as it is', () => {
  const broken = new RangeError('broken')
  const rows = {
    first: () => {
      throw new TypeError('someone: first is wrong.')
    },
    second: () => {
      throw broken
    },
  }
  expect(errorOf(() => readOptions('someone', {}, { rows }))).toBe(broken)
})

function errorOf(make: () => unknown): Error {
  try {
    make()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was thrown')
}
