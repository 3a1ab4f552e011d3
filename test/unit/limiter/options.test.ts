import { createLimiter, memoryStore, rateLimit, tokenBucket } from 'headgate'

const policy = tokenBucket({ capacity: 5, refill: 5, every: '1m' })
const enough = { limit: 5, window: '1m' }

/** Each wrong option: what is given besides `limit` and `window`, and what the message says. */
const WRONG: readonly (readonly [object, string])[] = [
  [{ limit: Number.NaN }, 'limit must be a whole number of at least 1, got NaN. Did you mean limit: 100?'],
  [{ limit: 0 }, 'limit must be a whole number of at least 1, got 0. Did you mean limit: 1?'],
  [{ limit: -1 }, 'limit must be a whole number of at least 1, got -1. Did you mean limit: 1?'],
  [{ limit: Infinity }, 'limit must be a whole number of at least 1, got Infinity. Did you mean limit: 100?'],
  [{ limit: 2.5 }, 'limit must be a whole number of at least 1, got 2.5. Did you mean limit: 3?'],
  [{ limit: '10' }, 'limit must be a whole number of at least 1, got "10". Did you mean limit: 10?'],
  [{ limit: null }, 'limit must be a whole number of at least 1, got null. Did you mean limit: 100?'],
  [{ limit: [5] }, 'limit must be a whole number of at least 1, got an array of 1. Did you mean limit: 100?'],
  [{ limit: 5n }, 'limit must be a whole number of at least 1, got 5n. Did you mean limit: 100?'],
  [{ limit: () => 5 }, 'limit must be a whole number of at least 1, got function limit.'],
  [{ limit: undefined }, 'limit must be a whole number of at least 1, got undefined.'],
  [{ limit: 1e9, window: '1ms' }, 'limit must be at most 10^9 per second'],
  [{ window: undefined }, "window must be given with limit, got undefined. Did you mean window: '1m'?"],
  [{ window: 0 }, 'window must be a duration from 1 ms to 10 years'],
  [{ window: -1 }, 'got -1'],
  [{ window: 1 }, "got 1. Write '1s' or '1ms', and for a computed time `"],
  [{ window: '60' }, "got \"60\". Write '60s' or '60ms'."],
  [{ window: 900 }, "got 900. Write '900s' or '900ms', and for a computed time `"],
  [{ window: 1.5 }, 'got 1.5'],
  [{ window: Number.NaN }, 'got NaN'],
  [{ window: Infinity }, 'got Infinity'],
  [{ window: 'soon' }, 'got "soon". Did you mean window: \'1m\'?'],
  [{ window: '' }, 'got "". Did you mean window: \'1m\'?'],
  [{ window: '11 years' }, 'got "11 years"'],
  [{ window: '0s' }, 'got "0s"'],
  [{ window: '-1m' }, 'got "-1m"'],
  [{ window: '9'.repeat(200) }, 'window must be a duration'],
  [{ window: null }, 'got null'],
  [{ window: {} }, 'got an object'],
  [{ policy }, 'give either limit and window, or policy, not both'],
  [{ limits: [{ policy }] }, 'limit cannot be combined with limits. Move it into each entry of limits.'],
  [
    { key: 'ip' },
    'key must be a function, or an array of 1 to 8 functions, got a string. Did you mean key: byIp()?',
  ],
  [{ key: [] }, 'key must be a function, or an array of 1 to 8 functions, got an array of 0'],
  [{ key: [() => 'a', 'b'] }, 'got an array of 2'],
  [{ key: Array(9).fill(() => 'a') }, 'got an array of 9'],
  [{ key: null }, 'got null'],
  [{ cost: -1 }, 'cost must be a whole number of at least 0, got -1. Did you mean cost: 0?'],
  [{ cost: '2' }, 'cost must be a whole number of at least 0, got "2". Did you mean cost: 2?'],
  [{ cost: 0.5 }, 'got 0.5. Did you mean cost: 1?'],
  [{ cost: Number.NaN }, 'got NaN'],
  [{ store: {} }, 'store must be a store, got an object. Use memoryStore(), or the store of your database, '],
  [{ store: { increment() {} } }, 'store must be a store, got an object. Use memoryStore(), '],
  [{ store: 'redis' }, 'store must be a store, got a string.'],
  [{ store: memoryStore }, 'store must be a store, got a function.'],
  [{ store: { ...memoryStore(), apply: undefined } }, 'store must be a store'],
  [
    { store: { name: 'mine', apply: async () => [] } },
    "store must be a store, got an object. Write customStore({ name, apply }), from 'headgate/store'.",
  ],
  [{ store: { ...memoryStore(), apply: () => [] } }, 'Write customStore({ name, apply })'],
  [{ name: '' }, 'name must be 1 to 64 letters, digits, dots, dashes or underscores'],
  [{ name: 'log in' }, "Did you mean name: 'log-in'?"],
  [{ name: 'a:b' }, "Did you mean name: 'a-b'?"],
  [{ name: '\u00e9' }, "Did you mean name: 'api'?"],
  [{ name: 'x'.repeat(65) }, 'name must be 1 to 64'],
  [{ name: 7 }, 'got 7'],
  [{ prefix: 'rl:' }, 'prefix must be 1 to 64 letters, digits, dots, dashes or underscores'],
  [{ prefix: '' }, 'got ""'],
  [{ timeout: 0 }, 'timeout must be a duration from 1 ms to 1m'],
  [{ timeout: '2m' }, "timeout must be at most '1m', got \"2m\". Write timeout: '1m', or a shorter time."],
  [{ timeout: Infinity }, 'got Infinity'],
  [{ timeout: 2 ** 31 }, 'timeout must be at most'],
  [{ onStoreError: 'open' }, "onStoreError must be one of 'allow', 'deny', 'local', got \"open\""],
  [{ onStoreError: 'Deny' }, "Did you mean onStoreError: 'deny'?"],
  [{ onStoreError: true }, 'got true'],
]

describe.each([
  ['rateLimit', rateLimit],
  ['createLimiter', createLimiter],
] as const)('%s', (owner, make) => {
  const making = (options: unknown) => () => (make as (options: unknown) => unknown)(options)

  test.each(WRONG)('%p is a TypeError with the fix', (wrong, says) => {
    expect(making({ ...enough, ...wrong })).toThrow(TypeError)
    expect(making({ ...enough, ...wrong })).toThrow(says)
    expect(making({ ...enough, ...wrong })).toThrow(new RegExp(`^${owner}: `))
  })

  test.each([undefined, null, 5, '5', [], () => 5, true])('options that are %p are an error', (options) => {
    expect(making(options)).toThrow(
      new RegExp(`^${owner}: options must be an object, got .* Known options: limit, window`),
    )
  })

  test('no limit at all is an error that shows one', () => {
    expect(making({})).toThrow(
      `${owner}: no limit is set. Write limit and window, such as { limit: 100, window: '1m' }.`,
    )
  })

  test.each([null, 5, '5 per minute', {}, [], { capacity: 5 }, { take: () => 5 }])(
    'a policy of %p is an error',
    (wrong) => {
      expect(making({ policy: wrong })).toThrow(
        /: policy must be a policy, got .* Did you mean tokenBucket\(/,
      )
    },
  )

  test.each<[unknown, string]>([
    [
      [],
      'limits must be an array of 1 to 16 limits, got an array of 0. ' +
        "Write limits: [{ name: 'burst', limit: 10, window: '1s' }].",
    ],
    [{}, 'got an object'],
    ['ip', 'got "ip"'],
    [Array(17).fill({ policy }), 'got an array of 17'],
    [[null], 'limits[0]: options must be an object, got null'],
    [[{ name: 'a', policy }, {}], 'limits[1]: no limit is set. Write limit and window, such as'],
    [
      [{ policy, key: 5 }],
      'limits[0]: key must be a function, or an array of 1 to 8 functions, got a number',
    ],
    [[{ policy, cost: -1 }], 'limits[0]: cost must be a whole number of at least 0, got -1'],
    [[{ policy, name: 'a b' }], 'limits[0]: name must be 1 to 64 letters'],
    [[{ limit: 5 }], "limits[0]: window must be given with limit, got undefined. Did you mean window: '1m'?"],
    [[{ policy, limit: 5, window: '1h' }], 'limits[0]: give either limit and window, or policy, not both.'],
    [[{ policy, polici: 1 }], 'limits[0]: there is no option "polici". Did you mean policy?'],
    [[{ policy }, { policy }], 'limits[1]: two limits are called "5-in-1min". Give each limit its own name.'],
  ])('limits of %p are an error that says which entry', (limits, says) => {
    expect(making({ limits })).toThrow(TypeError)
    expect(making({ limits })).toThrow(`${owner}: ${says.startsWith('got') ? '' : says}`)
    expect(making({ limits })).toThrow(says)
  })

  test('each of several limits may be given by limit and window', async () => {
    const limits = [
      { limit: 5, window: '1h' },
      { name: 'burst', limit: 2, window: '1s' },
    ] as const
    const keyed = limits.map((limit) => ({ ...limit, key: () => 'all' }))
    const { parts } = await createLimiter({ limits: keyed }).peek('any')
    expect(parts.map(({ name, limit }) => [name, limit])).toEqual([
      ['5-in-1h', 5],
      ['burst', 2],
    ])
  })

  test.each(['policy', 'key', 'cost', 'window'])('%s beside limits is an error', (option) => {
    const value = { policy, key: () => 'a', cost: 1, window: '1m' }[option]
    expect(making({ limits: [{ policy }], [option]: value })).toThrow(
      `${owner}: ${option} cannot be combined with limits.`,
    )
  })

  test.each([
    ['Limit', 'limit'],
    ['windows', 'window'],
    ['polcy', 'policy'],
    ['kye', 'key'],
    ['onStoreErr', 'onStoreError'],
    ['timeOut', 'timeout'],
    ['stroe', 'store'],
  ])('%s is an error that asks whether %s was meant', (typo, meant) => {
    expect(making({ ...enough, [typo]: 1 })).toThrow(
      `${owner}: there is no option "${typo}". Did you mean ${meant}?`,
    )
  })

  test('an unknown option without a near match is an error that lists the options', () => {
    expect(making({ ...enough, zzzzzzzzzzzz: 1 })).toThrow(
      /no option "zzzzzzzzzzzz"\. Known options: limit, window, policy,/,
    )
  })

  test.each<[unknown, string]>([
    ['hunter2', 'got a string of 7 characters'],
    ['', 'got a string of 0 characters'],
    [1234567890123456, 'got a number'],
    [987654321n, 'got a bigint'],
    [['hunter2'], 'got an array of 1'],
    [{ secret: 'hunter2' }, 'got an object'],
    [null, 'got null'],
  ])('a secret of %p is an error that does not show it', (secret, says) => {
    const message = messageOf(making({ ...enough, secret }))
    expect(message).toMatch(new RegExp(`^${owner}: secret must be a string of at least 16 characters`))
    expect(message).toContain(says)
    expect(message).toContain('openssl rand -hex 32')
    expect(message).not.toMatch(/hunter2|1234567890123456|987654321/)
  })

  test('a secret never shows in the message about another option', () => {
    const secret = 'correct horse battery staple'
    expect(messageOf(making({ ...enough, secret, cost: -1 }))).not.toContain(secret)
    expect(messageOf(making({ ...enough, Secret: secret }))).not.toContain(secret)
  })

  test.each([
    enough,
    { limit: 1, window: '1ms' },
    { limit: 1, window: 1000 },
    { limit: 100, window: '10 years' },
    {
      ...enough,
      cost: 0,
      key: [() => 'a'],
      name: 'a.b-c_D9',
      prefix: 'x',
      timeout: 60_000,
      secret: 'x'.repeat(16),
    },
    { ...enough, skip: undefined, onStoreError: () => 'deny' as const },
    { policy: () => undefined },
    { limits: Array.from({ length: 16 }, (_, i) => ({ name: `n${i}`, policy })) },
  ])('valid options do not throw: %p', ({ ...options }) => {
    if (owner === 'createLimiter') delete (options as { skip?: unknown }).skip
    expect(making(options)).not.toThrow()
  })
})

function messageOf(making: () => unknown): string {
  try {
    making()
  } catch (error) {
    return (error as Error).message
  }
  return 'nothing was thrown'
}
