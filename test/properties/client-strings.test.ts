import fc from 'fast-check'
import {
  adjustments,
  ban,
  byField,
  byHeader,
  byIp,
  byUser,
  createLimiter,
  fixedWindow,
  type KeyFunction,
  type LimiterOptions,
  loginGuard,
  memoryStore,
  sharedSettings,
} from 'headgate'
import { customStore } from 'headgate/store'

const hourly = fixedWindow({ limit: 1e6, window: '1h' })
const policy = ban(hourly, { after: 10, within: '1h', for: '1h' })

/** Text that a client may choose: with NUL, half a surrogate, more than 1024 characters, or the name of a property. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '\0', 'a\0b', '\ud800', 'a\udfff', '__proto__', 'constructor', '|', '=1:a', '\u202e'),
  fc.string({ minLength: 1000, maxLength: 1100 }),
  fc.constant('x'.repeat(100_000)),
)

/** What JSON or a form may have in place of text. */
const value = fc.oneof(
  text,
  fc.array(text, { maxLength: 3 }),
  fc.dictionary(text, text, { maxKeys: 3 }),
  fc.jsonValue(),
)

const REQUEST = { ip: '192.0.2.7' }

/** Limiters by what they charge, and the subject that holds a value of a client. */
const WAYS: readonly (readonly [string, Partial<LimiterOptions<never>>, (value: unknown) => unknown])[] = [
  [
    'a key that returns its subject',
    { key: ((each: unknown) => each ?? 'none') as KeyFunction<never> },
    (each) => each,
  ],
  ['an async key', { key: (async (each: unknown) => each ?? 'none') as KeyFunction<never> }, (each) => each],
  [
    'several keys',
    { key: [byHeader('x-key'), byField('name')] },
    (each) => ({ headers: { 'x-key': each }, body: { name: each } }),
  ],
  [
    'byField without an address',
    { key: byField('user.name') },
    (each) => ({ body: { user: { name: each } } }),
  ],
  ['byField', { key: byField('name') }, (each) => ({ ...REQUEST, body: { name: each } })],
  ['byField of a whole body', { key: byField('a.b') }, (each) => ({ ...REQUEST, body: each })],
  ['byHeader', { key: byHeader('x-key') }, (each) => ({ ...REQUEST, headers: { 'x-key': each } })],
  ['byUser', { key: byUser() }, (each) => ({ ...REQUEST, user: { id: each } })],
  [
    'byIp',
    { key: byIp({ trustProxy: 2 }) },
    (each) => ({ ...REQUEST, headers: { 'x-forwarded-for': each } }),
  ],
  ['byIp of an ip', { key: byIp(), block: ['198.51.100.1'] }, (each) => ({ ip: each || '-', socket: {} })],
]

const STORES = ['in memory', 'followed', 'behind a store'] as const

function limiterOf(where: (typeof STORES)[number], options: Partial<LimiterOptions<never>>) {
  const store = memoryStore()
  if (where === 'behind a store')
    Object.assign(options, { store: customStore({ name: 'plain', apply: store.apply.bind(store) }) })
  const given = { name: 'api', policy, ...options } as LimiterOptions<unknown>
  if (where !== 'followed') return createLimiter(given)
  const settings = sharedSettings(store)
  return createLimiter({ ...given, store, settings })
}

beforeAll(() => jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined))
afterAll(() => jest.restoreAllMocks())

describe.each(STORES)('%s', (where) => {
  test.each(WAYS)(
    'no text of a client makes a limiter with %s throw, whatever it is asked',
    async (_what, options, subjectOf) => {
      const limiter = limiterOf(where, { ...options })
      await fc.assert(
        fc.asyncProperty(value, async (each) => {
          const subject = subjectOf(each)
          const decision = await limiter.charge(subject)
          expect(decision).toMatchObject({ allowed: true, source: 'store' })
          await limiter.peek(subject)
          await limiter.waitFor(subject)
          await limiter.penalize(subject as object, 1)
          await limiter.reward(subject as object, 1)
          await limiter.refund(decision)
          await limiter.blockFor(subject as object, '1m')
          await limiter.forget(subject as object)
        }),
        { numRuns: 60 },
      )
      await limiter.close()
    },
  )
})

test('a login guard names no account by text that cannot be one, and does not throw', async () => {
  const guard = loginGuard({ field: 'user.name' })
  await fc.assert(
    fc.asyncProperty(value, async (name) => {
      const subject = { ...REQUEST, body: { user: { name } } }
      await guard.accountId(subject)
      await adjustments(guard.limiter).forget(subject)
      await adjustments(guard.limiter).forget({ body: { 'user.name': name } })
    }),
    { numRuns: 60 },
  )
})
