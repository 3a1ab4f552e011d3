import { lift } from '../../../../src/dashboard/actions/lift.js'
import { overrideTargets } from '../../../../src/dashboard/actions/overrides.js'
import { MAX_TARGETS, readTargets, resolveTargets } from '../../../../src/dashboard/actions/targets.js'
import { shownIdentity } from '../../../../src/keys/value-identity.js'
import { chargedParts } from '../../../../src/limiter/decision.js'
import { charge, watchedLimiter } from './watched.js'

const author = { by: 'ines', reason: 'a scraper' }
const HOUR_MS = 3_600_000

async function shownOf(limiter: ReturnType<typeof watchedLimiter>['limiter'], identity: string) {
  const decision = await limiter.peek(identity)
  return shownIdentity(chargedParts(decision)?.[0]?.identity ?? '')
}

test.each([
  ['block', { block: true }, [false, false]],
  ['exempt', { exempt: true }, [true, true]],
  ['raise', { limits: { api: { limit: 5 } } }, [true, true]],
] as const)(
  '%s is in force for a client as the page lists it, whose name stays in this process',
  async (_, effect, then) => {
    const { limiter, watched, settings } = watchedLimiter()
    const used = effect === undefined ? 0 : 'block' in effect ? 0 : 3
    await charge(limiter, 'ada', used)
    const storedIdentity = await shownOf(limiter, 'ada')
    expect(storedIdentity).not.toContain('ada')
    const targets = readTargets([{ storedIdentity }])
    const done = await overrideTargets(watched, { targets, effect, durationMs: HOUR_MS }, author)
    expect(done.count).toBe(1)
    expect(Math.abs(Number(done.untilMs) - Date.now() - HOUR_MS)).toBeLessThan(60_000)
    expect(await charge(limiter, 'ada', 2)).toEqual(then)
    expect(await charge(limiter, 'bob', 1)).toEqual([true])
    expect((await settings.changes('api'))[0]).toMatchObject(author)
  },
)

test('many targets are one change, in which each has one override that replaces an earlier one', async () => {
  const { watched, settings } = watchedLimiter()
  const given = Array.from({ length: MAX_TARGETS }, (_, i) => ({ network: `10.${i >> 8}.${i & 255}.0/24` }))
  const targets = readTargets([...given.slice(0, -1), given[0]])
  await overrideTargets(watched, { targets, effect: { exempt: true }, durationMs: HOUR_MS }, author)
  await overrideTargets(watched, { targets, effect: { block: true }, durationMs: HOUR_MS }, author)
  const { overrides } = await settings.read('api')
  expect(overrides.length).toBe(MAX_TARGETS - 1)
  expect(overrides.every(({ block, exempt }) => block && !exempt)).toBe(true)
  expect((await settings.changes('api')).length).toBe(2)
})

test('an override can be for all clients whose identity begins with a text, and have no end', async () => {
  const { limiter, watched, settings } = watchedLimiter()
  const targets = readTargets([{ identityPrefix: 'trial-' }])
  const change = { targets, effect: { block: true }, durationMs: Number.POSITIVE_INFINITY } as const
  expect(await overrideTargets(watched, change, author)).toEqual({ count: 1 })
  expect(await charge(limiter, 'trial-7')).toEqual([false])
  expect(await charge(limiter, 'ada')).toEqual([true])
  expect((await settings.read('api')).overrides).toEqual([{ identityPrefix: 'trial-', block: true }])
})

test('undoing a block brings back what it replaced', async () => {
  const { limiter, watched, settings } = watchedLimiter()
  const targets = readTargets([{ identity: 'ada' }])
  await overrideTargets(watched, { targets, effect: { exempt: true }, durationMs: HOUR_MS }, author)
  await overrideTargets(watched, { targets, effect: { block: true }, durationMs: HOUR_MS }, author)
  expect(await charge(limiter, 'ada')).toEqual([false])
  const [last] = await settings.changes('api')
  await settings.undo('api', last?.id ?? '', author)
  expect(await charge(limiter, 'ada', 5)).toEqual([true, true, true, true, true])
})

test('a change that is sent twice is made once', async () => {
  const { watched, settings } = watchedLimiter()
  const change = {
    targets: readTargets([{ identity: 'ada' }]),
    effect: { block: true },
    durationMs: HOUR_MS,
  } as const
  await Promise.all([1, 2].map(() => overrideTargets(watched, change, { ...author, id: 'one' })))
  expect((await settings.changes('api')).map(({ id }) => id)).toEqual(['one'])
})

describe('a typed target is', () => {
  test('what stores keep of it, if they know it', async () => {
    const { limiter, watched } = watchedLimiter()
    await charge(limiter, 'ada')
    const storedIdentity = await shownOf(limiter, 'ada')
    expect(await resolveTargets(watched, readTargets([{ identity: ' ada ' }]))).toEqual([{ storedIdentity }])
  })

  test.each([
    ['203.0.113.7', { network: '203.0.113.7' }],
    ['203.0.113.0/24', { network: '203.0.113.0/24' }],
    ['2001:db8::/48', { network: '2001:db8::/48' }],
    ['ada', { identity: 'ada' }],
    ['<b onclick=alert(1)>', { identity: '<b onclick=alert(1)>' }],
    ['0123456789abcdefghij_-', { storedIdentity: '0123456789abcdefghij_-' }],
  ])('%s otherwise', async (identity, target) => {
    expect(await resolveTargets(watchedLimiter().watched, readTargets([{ identity }]))).toEqual([target])
  })
})

test.each([
  ['none', []],
  ['too many', Array.from({ length: MAX_TARGETS + 1 }, () => ({ network: '10.0.0.0/8' }))],
  ['too many that a person typed', Array.from({ length: 21 }, () => ({ identity: 'a' }))],
  ['no array', 'ada'],
  ['an array of texts', ['ada']],
  ['two kinds', [{ identity: 'a', network: '10.0.0.0/8' }]],
  ['an unknown kind', [{ prefix: 'a' }]],
  ['a prefix of nothing', [{ identityPrefix: ' ' }]],
  ['NUL', [{ identity: 'ada\0' }]],
  ['a number', [{ identity: 1 }]],
  ...['', ' ', 'x', '__proto__', '203.0.113.0/33', '<img src=x>', '\ud800', '1.2.3.4 '.repeat(9)].map(
    (network): [string, unknown] => [`the network ${JSON.stringify(network)}`, [{ network }]],
  ),
])('targets are rejected: %s', (_, targets) => {
  expect(() => readTargets(targets)).toThrow(/^dashboard: targets/)
})

test.each([
  ['a network with bits after its prefix', { network: '10.1.2.3/8' }],
  ['an unknown form of a stored identity', { storedIdentity: 'ada' }],
])('a change is rejected for %s, and nothing has changed', async (_, target) => {
  const { watched, settings } = watchedLimiter()
  const targets = readTargets([target, { identity: 'bob' }])
  const change = overrideTargets(watched, { targets, effect: { block: true }, durationMs: HOUR_MS }, author)
  await expect(change).rejects.toThrow(TypeError)
  expect(await settings.changes('api')).toEqual([])
})

test('without settings, an override is rejected with how to get them', async () => {
  const { watched } = watchedLimiter({ settings: undefined })
  const targets = readTargets([{ identity: 'ada' }])
  const change = overrideTargets(watched, { targets, effect: { block: true }, durationMs: HOUR_MS }, author)
  await expect(change).rejects.toThrow('settings: sharedSettings(store)')
})

test('whatever the page can change at once can be undone, and so can its undo', async () => {
  const { watched, settings } = watchedLimiter()
  const hashes = Array.from(
    { length: MAX_TARGETS },
    (_, i) => `AViaqCZliCJ4-TcXn7${String(i).padStart(4, '0')}`,
  )
  const targets = readTargets(hashes.map((storedIdentity) => ({ storedIdentity })))
  const last = async () => (await settings.changes('api'))[0]?.id ?? ''
  const effects = [{ limits: { api: { limit: 5 } } }, { block: true }] as const
  for (const effect of effects)
    await overrideTargets(watched, { targets, effect, durationMs: HOUR_MS }, author)
  const states = [await settings.read('api')]
  for (let i = 0; i < 3; i++) {
    await lift(watched, { change: await last() }, author)
    states.push(await settings.read('api'))
  }
  expect(states.map(({ overrides }) => [overrides.length, overrides[0]?.block])).toEqual([
    [MAX_TARGETS, true],
    [MAX_TARGETS, undefined],
    [MAX_TARGETS, true],
    [MAX_TARGETS, undefined],
  ])
})

test('a conflict of a thousand parts names who changed each, and is small', async () => {
  const { watched, settings } = watchedLimiter()
  const targets = readTargets(
    Array.from({ length: MAX_TARGETS }, (_, i) => ({ identityPrefix: `bad-${i}-` })),
  )
  const override = { targets, effect: { block: true }, durationMs: HOUR_MS } as const
  await overrideTargets(watched, override, author)
  const [block] = await settings.changes('api')
  await overrideTargets(
    watched,
    { ...override, effect: { exempt: true } },
    { by: 'bob', reason: 'a mistake' },
  )
  const error = await lift(watched, { change: block?.id ?? '' }, author).catch((thrown) => thrown)
  const [part] = error.parts
  expect([error.parts.length, part.change.by, part.change.parts]).toEqual([MAX_TARGETS, 'bob', undefined])
  expect(JSON.stringify(error.parts).length).toBeLessThan(1_000_000)
})
