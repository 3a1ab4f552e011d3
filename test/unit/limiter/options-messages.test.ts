import { byIp, createLimiter, rateLimit, tokenBucket } from 'headgate'

const policy = tokenBucket({ capacity: 5, refill: 5, every: '1m' })
const key = byIp()
const enough = { limit: 5, window: '1m', key }

/** What an attempt to make something throws. */
function errorOf(make: () => unknown): Error {
  try {
    make()
  } catch (error) {
    return error as Error
  }
  throw new Error('nothing was thrown')
}

describe.each([
  ['rateLimit', rateLimit],
  ['createLimiter', createLimiter],
] as const)('%s', (owner, make) => {
  const wrong = (options: unknown) => errorOf(() => (make as (options: unknown) => unknown)(options))

  test.each(['every minute', 'everyone', 'tokenBucket: x', 'refill', 'capacity'])(
    'shows the window %j as it was given',
    (window) => {
      const error = wrong({ limit: 1, window, key })
      expect(error).toBeInstanceOf(TypeError)
      expect(error.message).toContain(`${owner}: window must be a duration`)
      expect(error.message).toContain(`got ${JSON.stringify(window)}. Did you mean window: '1m'?`)
    },
  )

  test.each([
    [1e9 + 1, '1s'],
    [1e9, '1ms'],
    [1_000_001, '1ms'],
    [2 ** 37 + 1, '10 years'],
    [Number.MAX_SAFE_INTEGER, '10 years'],
  ])('a limit of %d in %p is rejected in the words of the caller', (limit, window) => {
    const error = wrong({ limit, window, key })
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toMatch(new RegExp(`^${owner}: limit must be at most .*, got ${limit}\\.`))
    expect(error.message).not.toMatch(/refill|capacity|tokenBucket|every/)
    expect(error.message).toContain('Count in larger units, such as kilobytes.')
  })

  test.each([
    [1e9, '1s'],
    [1_000_001, '1s'],
    [60_000, '1s'],
    [1e6, '1ms'],
    [2 ** 37, '10 years'],
  ])('a limit of %d in %p is accepted', (limit, window) => {
    expect(() => (make as typeof createLimiter)({ limit, window, key })).not.toThrow()
  })

  test.each([1, 7, 11, 1000])(
    'a limit of %d in ten years is accepted, however its interval is rounded',
    (limit) => {
      expect(() => createLimiter({ limit, window: '10y', key })).not.toThrow()
    },
  )

  test.each([['abc'], [''], [{}], [null], [Number.NaN], [Number.POSITIVE_INFINITY], [true]])(
    'a cost of %p is rejected, and 1 is suggested',
    (cost) => {
      const error = wrong({ ...enough, cost })
      expect(error).toBeInstanceOf(TypeError)
      expect(error.message).toMatch(
        /: cost must be a whole number of at least 0, got .*\. Did you mean cost: 1\?$/,
      )
    },
  )

  test.each<[string, object, string]>([
    ['limits', { limits: new Array(1) }, 'limits'],
    ['limits beside a sound one', { limits: Object.assign(new Array(2), { 0: { policy, key } }) }, 'limits'],
    ['key', { ...enough, key: new Array(1) }, 'key'],
    ['key beside a sound one', { ...enough, key: Object.assign(new Array(2), { 0: key }) }, 'key'],
    ['key of one of several limits', { limits: [{ policy, key: new Array(1) }] }, 'limits[0]: key'],
  ])('a hole in %s is an error that names the option', (_where, options, named) => {
    const error = wrong(options)
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toContain(`${owner}: ${named}`)
  })
})

test.each<[string, object]>([
  ['undefined', { toJSON() {} }],
  ['a function', { toJSON: () => () => 'slow down' }],
  ['a symbol', { toJSON: () => Symbol('slow down') }],
  [
    'an error',
    {
      toJSON() {
        throw new Error('no')
      },
    },
  ],
])('a message that turns into %s as JSON is an error that says what to write', (_what, message) => {
  const error = errorOf(() => rateLimit({ ...enough, message }))
  expect(error).toBeInstanceOf(TypeError)
  expect(error.message).toMatch(/^rateLimit: message must be a string, or an object that JSON can hold/)
})

test('a message is sent as its toJSON returns it', () => {
  expect(() => rateLimit({ ...enough, message: { toJSON: () => ({ error: 'slow down' }) } })).not.toThrow()
})
