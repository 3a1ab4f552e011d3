import { ban, createLimiter, fixedWindow, memoryStore, sharedSettings } from 'headgate'

const policy = ban(fixedWindow({ limit: 5, window: '1m' }), { after: 3, within: '1m', for: '1h' })
const limiter = createLimiter<string>({ name: 'api', policy, key: (id) => id, store: memoryStore() })

test.each<[unknown, string]>([
  [2, 'createLimiter: options must be an object, got a number. Write charge(subject, { cost: 2 }).'],
  [0, 'got a number. Write charge(subject, { cost: 2 }).'],
  ['2', 'got a string. Write charge(subject, { cost: 2 }).'],
  [{ points: 2 }, 'createLimiter: there is no option "points". Write cost instead.'],
  [{ weight: 2 }, 'Write cost instead.'],
  [{ csot: 2 }, 'Did you mean cost?'],
  [{ cost: 1, foo: 1 }, 'createLimiter: there is no option "foo".'],
  [[], 'createLimiter: options must be an object, got '],
])('a charge with %j as options is refused, with the fix', async (options, problem) => {
  await expect(limiter.charge('ada', options as never)).rejects.toThrow(problem)
  expect((await limiter.peek('ada')).remaining).toBe(5)
})

test.each([undefined, null, {}, { cost: undefined }, { cost: 1 }])(
  'a charge with %j costs 1',
  async (options) => {
    const before = (await limiter.peek('bob')).remaining
    await limiter.charge('bob', options as never)
    expect((await limiter.peek('bob')).remaining).toBe(before - 1)
    await limiter.forget('bob')
  },
)

test.each<[string, () => unknown, string]>([
  [
    'blockFor',
    () => limiter.blockFor('ada', 900),
    "got 900. Write '900s' or '900ms', and for a computed time `",
  ],
  ['blockFor with limits', () => limiter.blockFor('ada', '15m', 3 as never), 'options must be an object'],
  ['waitFor with a number', () => limiter.waitFor('ada', 5 as never), 'options must be an object'],
  [
    'waitFor',
    () => limiter.waitFor('ada', { maxWait: 30 }),
    "maxWait must be a string with a unit, or a number of at least 1000 milliseconds, got 30. Write '30s' or '30ms', and for a computed time `",
  ],
  ['penalize', () => limiter.penalize('ada', 2, 3 as never), 'options must be an object'],
  ['reward', () => limiter.reward('ada', 2, 3 as never), 'options must be an object'],
  ['forget', () => limiter.forget('ada', 3 as never), 'options must be an object'],
  [
    'ban',
    () => ban(fixedWindow({ limit: 5, window: '1m' }), { after: 3, within: 60, for: 900 }),
    "- within must be a string with a unit, or a number of at least 1000 milliseconds, got 60. Write '60s' or '60ms', and for a computed time `",
  ],
  [
    'a timeout',
    () => createLimiter({ limit: 5, window: '1m', timeout: 5 }),
    "timeout must be a string with a unit, or a number of at least 1000 milliseconds, got 5. Write '5s' or '5ms', and for a computed time `",
  ],
  [
    'denyCache 0',
    () => createLimiter({ limit: 5, window: '1m', denyCache: 0 }),
    'Did you mean denyCache: false?',
  ],
  [
    'denyCache',
    () => createLimiter({ limit: 5, window: '1m', denyCache: 1 }),
    "Write '1s' or '1ms', and for a computed time `",
  ],
])(
  '%s refuses a bare number that may be seconds, and options that are not an object',
  async (_, call, problem) => {
    await expect(async () => call()).rejects.toThrow(problem)
  },
)

type Call = (...args: unknown[]) => unknown
const NO_OPTIONS =
  'createLimiter: options must be an object, got a number. Leave them out, or write { limits: '
const NO_DECISION =
  'createLimiter: decision must be a decision of a limiter, got a string. Pass what limiter.charge returns.'

test.each<[string, () => unknown, string]>([
  [
    'peek(id, 2)',
    () => (limiter.peek as Call)('ada', 2),
    'createLimiter: options must be left out, because a peek takes nothing, got 2. Write peek(subject), and compare',
  ],
  ['peek(id, {})', () => (limiter.peek as Call)('ada', {}), 'Write peek(subject), and compare remaining'],
  ['forget(id, 2)', () => limiter.forget('ada', 2 as never), NO_OPTIONS],
  ['penalize(id, 2, 2)', () => limiter.penalize('ada', 2, 2 as never), NO_OPTIONS],
  ['reward(id, 2, 2)', () => limiter.reward('ada', 2, 2 as never), NO_OPTIONS],
  ["blockFor(id, '1m', 2)", () => limiter.blockFor('ada', '1m', 2 as never), NO_OPTIONS],
  ['refund(decision, 2)', async () => limiter.refund(await limiter.peek('ada'), 2 as never), NO_OPTIONS],
  [
    'adjust(decision, 2, 2)',
    async () => limiter.adjust(await limiter.peek('ada'), 2, 2 as never),
    NO_OPTIONS,
  ],
  ['refund(id)', () => limiter.refund('ada' as never), NO_DECISION],
  ['refund(id, 2)', () => limiter.refund('ada' as never, 2 as never), NO_DECISION],
  ['adjust(id, 2)', () => limiter.adjust('ada' as never, 2), NO_DECISION],
  ['release(id)', () => limiter.release('ada' as never), NO_DECISION],
  [
    'refund(request)',
    () => limiter.refund({ ip: '::1' } as never),
    'decision must be a decision of a limiter, got an object.',
  ],
  [
    'waitFor(id, 2)',
    () => limiter.waitFor('ada', 2 as never),
    "waitFor: options must be an object, got a number. Write waitFor(subject, { cost: 2, maxWait: '5s' }).",
  ],
  ['penalize(id)', () => limiter.penalize('ada', undefined as never), 'Did you mean units: 1?'],
  ['reward(id)', () => limiter.reward('ada', undefined as never), 'Did you mean units: 1?'],
  ['blockFor(id)', () => limiter.blockFor('ada', undefined as never), "Did you mean duration: '1m'?"],
])('%s throws, with the fix', async (_, call, problem) => {
  await expect(async () => call()).rejects.toThrow(problem)
  expect((await limiter.peek('ada')).remaining).toBe(5)
})

test('without a decision, there is nothing to give back', async () => {
  for (const call of [limiter.refund, limiter.release]) await call(undefined as never)
  await limiter.adjust(undefined as never, 2)
})

test('a settings document refuses numbers that may be seconds', async () => {
  const settings = sharedSettings(memoryStore())
  const change = settings.change(
    'api',
    () => ({
      limits: {
        api: { policy: 'fixedWindow', limit: 5, window: '1m', ban: { after: 3, within: 60, for: '1h' } },
      },
    }),
    { by: 'ada', reason: 'a test' },
  )
  await expect(change).rejects.toThrow('limits.api.ban.within must be a string with a unit')
})
