import {
  ban,
  byIp,
  candidateLimits,
  concurrency,
  consecutive,
  createLimiter,
  fixedWindow,
  type Limiter,
  type LimiterOptions,
  slidingWindow,
} from 'headgate'
import { connectStore } from '../../../src/cli/keys/connection.js'
import { nextTurn } from '../../support/next-turn.js'
import { type KeyStore, keyStore } from './key-store.js'
import { failureOf, mustRun, run } from './run-command.js'

jest.mock('../../../src/cli/keys/connection.js')

const STORE = ['--store', 'redis://127.0.0.1']
const SECRET = 'a secret of 32 characters or more'
const window = fixedWindow({ limit: 2, window: '1h' })
const banning = ban(window, { after: 1, within: '1m', for: ['1m', '1h'] })

let stored: KeyStore

beforeEach(() => {
  stored = keyStore()
  jest.mocked(connectStore).mockImplementation(async () => {
    for (let turn = 0; turn < 5; turn++) await nextTurn() // limiters publish their limits in the background
    return stored
  })
})
afterEach(() => expect(stored.isClosed).toBe(true))

const ada = { ip: '203.0.113.7' }
const by = <S>(options: Partial<LimiterOptions<S>>) =>
  createLimiter<S>({ store: stored.store, denyCache: false, key: byIp(), ...options } as LimiterOptions<S>)
const nameOf = (limiter: string) => ['--limiter', limiter]

interface Listed {
  readonly limiter: string
  readonly limit: string | null
  readonly limited: string | null
  readonly limitedForMs: number | null
  readonly limitedUntil: string | null
  readonly freshAt: string | null
  readonly remaining: number | null
  readonly of: number | null
  readonly inUse: number | null
  readonly policy: string
  readonly bans: number | null
  readonly denials: number | null
  readonly denialsUntil: string | null
}

async function inspect(identity: string, ...args: readonly string[]): Promise<readonly Listed[]> {
  return JSON.parse(await mustRun('inspect', identity, ...STORE, '--json', ...args)).limits
}

async function exhaust<S>(limiter: Limiter<S>, subject: S): Promise<void> {
  while ((await limiter.charge(subject)).allowed);
}

describe('inspect', () => {
  test('lists the limits of an identity, those that limit it for longest first', async () => {
    await by({ name: 'fresh', policy: window }).charge(ada)
    await exhaust(
      by({ name: 'short', policy: fixedWindow({ limit: 1, window: '1m', startsAt: 'first-request' }) }),
      ada,
    )
    await by({ name: 'login', policy: banning }).blockFor(ada, '1h')
    await exhaust(by({ name: 'row', policy: consecutive({ limit: 1 }) }), ada)
    await exhaust(by({ name: 'busy', policy: concurrency({ limit: 1, ttl: '1m' }) }), ada)
    const found = await inspect('203.0.113.7')
    const limited = found.map(({ limiter, limited }) => [limiter, limited])
    expect(limited.slice(0, 3)).toEqual([
      ['row', 'exhausted'],
      ['login', 'banned'],
      ['short', 'exhausted'],
    ])
    expect(limited.slice(3).sort()).toEqual([
      ['busy', null],
      ['fresh', null],
    ])
    const byName = Object.fromEntries(found.map((each) => [each.limiter, each]))
    expect(byName.fresh).toMatchObject({ remaining: 1, of: 2, limitedForMs: null, limitedUntil: null })
    expect(byName.row).toMatchObject({ limitedForMs: null, limitedUntil: null, freshAt: null })
    expect(byName.busy).toMatchObject({ remaining: 0, of: 1, inUse: 1, limitedUntil: null })
    expect(byName.login?.limitedForMs).toBeGreaterThan(3_590_000)
    expect(byName.short?.limitedForMs).toBeLessThanOrEqual(60_000)
    const untilMs = Date.parse(byName.login?.limitedUntil ?? '')
    expect(untilMs).toBeGreaterThan(Date.now() + 3_500_000)
    expect(Date.parse(byName.fresh?.freshAt ?? '')).toBeGreaterThan(Date.now())
  })

  test('is text for people, which names the limit, its state, and the identity as it is stored', async () => {
    const limits = [
      { name: 'account', policy: banning, key: byIp() },
      { name: 'rate', policy: window, key: byIp() },
      { name: 'row', policy: consecutive({ limit: 1 }), key: byIp() },
      { name: 'busy', policy: concurrency({ limit: 3 }), key: byIp() },
    ]
    const login = by<object>({ name: 'login', limits, key: undefined as never })
    await login.charge(ada)
    await login.blockFor(ada, '1h')
    const time = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\dZ'
    const lines = (await mustRun('inspect', '203.0.113.7', ...STORE)).split('\n')
    expect(lines).toEqual([
      'login/row',
      '  policy      1 in a row (consecutive)',
      '  remaining   0 of 1',
      '  state       exhausted until units are refunded',
      '  fresh       not by itself',
      '  stored as   203.0.113.7',
      '',
      'login/account',
      '  policy      2 in 1h (fixed-window), with bans',
      '  remaining   0 of 2',
      expect.stringMatching(`^  state       banned until ${time}, for 60 min$`),
      '  bans        1 in a row',
      expect.stringMatching(`^  fresh       ${time}$`),
      '  stored as   203.0.113.7',
      '',
      'login/busy',
      '  policy      3 at once (concurrency)',
      '  in use      1 of 3',
      expect.stringMatching(`^  fresh       ${time}$`),
      '  stored as   203.0.113.7',
      '',
      'login/rate',
      '  policy      2 in 1h (fixed-window)',
      '  remaining   1 of 2',
      '  state       not limited',
      expect.stringMatching(`^  fresh       ${time}$`),
      '  stored as   203.0.113.7',
      '',
    ])
    await login.close()
  })

  test('shows a client under each of several plans, those that limit it for longest first', async () => {
    const limits = [5, 1]
    const limiter = by<object>({
      name: 'api',
      policy: () => fixedWindow({ limit: limits[0] as number, window: '1m', startsAt: 'first-request' }),
    })
    await limiter.charge(ada)
    limits.shift()
    expect(await inspect('203.0.113.7')).toMatchObject([
      { policy: '5 in 1m (first-request)', remaining: 4, of: 5, bans: null, denials: null },
    ])
    await limiter.charge(ada)
    expect(await inspect('203.0.113.7')).toMatchObject([
      { policy: '1 in 1m (first-request)', remaining: 0, of: 1, limited: 'exhausted' },
      { policy: '5 in 1m (first-request)', remaining: 4, of: 5, limited: null },
    ])
  })

  test('shows what a client has used of a limit that is not published', async () => {
    const limiter = by<object>({ policy: banning })
    await exhaust(limiter, ada)
    await limiter.charge(ada)
    const [standing] = await inspect('203.0.113.7')
    expect(standing).toMatchObject({ policy: 'fixed-window, with bans', remaining: null, of: null, inUse: 2 })
    expect(standing).toMatchObject({ limited: 'banned', bans: 1, freshAt: null })
    expect((await mustRun('inspect', '203.0.113.7', ...STORE)).split('\n')).toEqual([
      '_default',
      '  policy      fixed-window, with bans',
      '  in use      2 (the limit is not published)',
      expect.stringMatching(/^ {2}state {7}banned until /),
      '  bans        1 in a row',
      '  stored as   203.0.113.7',
      '',
      'Limiters publish their limits after the first charge, if they have a name and the store permits it.',
      '',
    ])
  })

  test('shows the denials that count for a ban, and bans that have ended', async () => {
    const policy = ban(window, { after: 3, within: '1m', for: '1s' })
    const limiter = by<object>({ name: 'api', policy })
    for (let i = 0; i < 4; i++) await limiter.charge(ada)
    expect(await inspect('203.0.113.7')).toMatchObject([
      { limited: 'exhausted', bans: 0, denials: 2, denialsUntil: expect.stringMatching(/Z$/) },
    ])
    const text = await mustRun('inspect', '203.0.113.7', ...STORE)
    expect(text).toMatch(/^ {2}denials {5}2, counted until \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ\n {2}fresh/m)
    await limiter.charge(ada)
    const [key, state] = [...stored.states][0] as [string, readonly number[]]
    stored.states.set(key, state.with(-1, Date.now() - 500).with(0, 0))
    expect(await inspect('203.0.113.7')).toMatchObject([{ limited: null, remaining: 2, bans: 1, denials: 0 }])
  })

  test('fails for a key that holds something else', async () => {
    await by({ name: 'api', policy: window }).charge(ada)
    const [key = ''] = stored.states.keys()
    stored.states.set(key, [0.5, 1, 2, 3, 4, 5, 6])
    expect(await failureOf('inspect', '203.0.113.7', ...STORE)).toEqual([
      1,
      `the key ${key} holds a value that is not a state of headgate`,
    ])
  })

  test('shows 20 keys to people, and says how many more there are', async () => {
    const limiter = by<{ ip: string; path: string }>({
      name: 'api',
      policy: window,
      key: [byIp(), ({ path }) => path],
    })
    for (let i = 0; i < 21; i++) await limiter.charge({ ...ada, path: `/${i}` })
    const more = 'more keys are denied for a shorter time, or not at all: --json lists them'
    expect(await mustRun('inspect', '203.0.113.7', ...STORE)).toMatch(new RegExp(`\n\n1 ${more}\n$`))
    expect(await inspect('203.0.113.7')).toHaveLength(21)
    stored.states.delete([...stored.states.keys()][0] as string)
    expect(await mustRun('inspect', '203.0.113.7', ...STORE)).not.toContain(more)
    expect(await mustRun('release', '203.0.113.7', ...STORE)).toBe(
      'released "203.0.113.7" from api (20 keys)\n',
    )
  })

  test('leaves out a key that expires while it is read', async () => {
    await by({ name: 'api', policy: window }).charge(ada)
    stored.readBytes = async () => ({ bytes: undefined, atMs: Date.now() })
    expect(await mustRun('inspect', '203.0.113.7', ...STORE)).toBe(
      'nothing is stored for "203.0.113.7" by api (if the limiters have a secret, set HEADGATE_SECRET)\n',
    )
  })

  test('searches under the prefix, whatever characters it has, and skips what is no key of a limit', async () => {
    await by({ name: 'api', policy: window }).charge(ada)
    const [[key, state]] = stored.states as unknown as [[string, readonly number[]]]
    for (const other of [`a*:${key}`, `ab:${key}`, 'a*:hg:3:health', `a*:${key.replace(':{', '{')}`])
      stored.states.set(other, state)
    expect(await inspect('203.0.113.7', '--prefix', 'a*:hg')).toHaveLength(1)
    expect(stored.patterns).toEqual(['a\\*:hg:3:*'])
  })
})

describe('an identity', () => {
  test('is found in its other spellings, and under the secret that hides it', async () => {
    const limiter = by<string>({ name: 'api', policy: window, key: (id) => id, secret: SECRET })
    await limiter.charge('ada')
    const env = (name: string, value: string) => jest.replaceProperty(process, 'env', { [name]: value })
    const nothing = 'nothing is stored for "ada" by api'
    const hint = ' (if the limiters have a secret, set HEADGATE_SECRET)'
    expect(await mustRun('inspect', 'ada', ...STORE)).toBe(`${nothing}${hint}\n`)
    const given = env('HEADGATE_SECRET', SECRET)
    expect(await inspect('ada')).toHaveLength(1)
    given.replaceValue({ HEADGATE_SECRET: `another ${SECRET}` })
    expect(await mustRun('inspect', 'ada', ...STORE)).toBe(`${nothing}\n`)
    given.replaceValue({ OTHER: SECRET, HEADGATE_STORE: 'redis://127.0.0.1' })
    expect(await mustRun('inspect', 'ada', '--secret-env', 'OTHER', '--json')).toContain('"limiter": "api"')
    given.restore()
  })

  test('is found among several parts, where it is not one of the fixed texts', async () => {
    const limiter = by<{ ip: string; path: string }>({
      name: 'api',
      policy: window,
      key: [byIp(), ({ path }) => path],
    })
    await limiter.charge({ ...ada, path: '/a' })
    await limiter.charge({ ip: '203.0.113.8', path: '/a' })
    const [key = ''] = stored.states.keys()
    stored.states.set(key.replace('}', '|stranger}'), stored.states.get(key) ?? [])
    expect(await inspect('203.0.113.7')).toHaveLength(2)
    expect(await inspect('stranger')).toEqual([])
  })
})

describe('release', () => {
  test('forgets an identity in the limits that --limiter names', async () => {
    const limits = ['one', 'two'].map((name) => ({ name, policy: window, key: byIp() }))
    for (const name of ['api', 'app']) await by<object>({ name, limits, key: undefined as never }).charge(ada)
    await by({ name: 'other', policy: window }).charge({ ip: '203.0.113.9' })
    expect(await mustRun('release', '203.0.113.7', ...STORE, ...nameOf('api/two'), '--json')).toBe(
      `${JSON.stringify(
        {
          identity: '203.0.113.7',
          released: [
            {
              limiter: 'api',
              limit: 'two',
              candidate: false,
              identity: '203.0.113.7',
            },
          ],
        },
        null,
        2,
      )}\n`,
    )
    expect(await mustRun('release', '203.0.113.7', ...STORE, ...nameOf('app'))).toBe(
      'released "203.0.113.7" from app/one, app/two\n',
    )
    expect((await inspect('203.0.113.7')).map(({ limiter, limit }) => [limiter, limit])).toEqual([
      ['api', 'one'],
    ])
    expect(stored.states.size).toBe(2)
  })

  test('says what it found nothing in', async () => {
    const release = (...args: string[]) => mustRun('release', '203.0.113.7', ...STORE, ...args)
    const nothing = 'nothing is stored for "203.0.113.7"'
    expect(await release('--prefix', 'shop')).toBe(
      `${nothing}: the store has no limit under the prefix "shop"\n`,
    )
    const limits = ['one', 'two'].map((name) => ({ name, policy: window, key: byIp() }))
    await by<object>({ name: 'api', limits, key: undefined as never }).charge({ ip: '203.0.113.9' })
    expect(await release(...nameOf('apii'))).toBe(
      `${nothing} by "apii", which has no keys; did you mean api?\n`,
    )
    expect(await release(...nameOf('api/ones'))).toBe(
      `${nothing} by "api/ones", which has no keys; did you mean api/one?\n`,
    )
    expect(await release(...nameOf('nothing-like-it'))).toBe(
      `${nothing} by "nothing-like-it", which has no keys\n`,
    )
    expect(await release(...nameOf('api/two'))).toBe(
      `${nothing} by api/two (if the limiters have a secret, set HEADGATE_SECRET)\n`,
    )
  })

  test('forgets at most 1,000 keys at a time, and counts all of them', async () => {
    await by({ name: 'api', policy: window }).charge(ada)
    const [[key, state]] = stored.states as unknown as [[string, readonly number[]]]
    for (let i = 0; i < 1500; i++) {
      const part = i.toString(36).padStart(22, '-')
      stored.states.set(key.replace('}', `|${part}}`), state)
    }
    expect(await mustRun('release', '203.0.113.7', ...STORE)).toBe(
      'released "203.0.113.7" from api (1,501 keys)\n',
    )
    expect(stored.forgotten).toEqual([1000, 501])
    expect(stored.states.size).toBe(0)
  })

  test('names ten limits, and says how many more there are', async () => {
    for (let i = 0; i < 12; i++) await by({ name: `api-${10 + i}`, policy: window }).charge(ada)
    const names = Array.from({ length: 10 }, (_, i) => `api-${10 + i}`).join(', ')
    expect(await mustRun('release', '203.0.113.7', ...STORE)).toBe(
      `released "203.0.113.7" from ${names} and 2 more\n`,
    )
  })
})

describe('block', () => {
  const block = (identity: string, ...args: readonly string[]) =>
    mustRun('block', identity, '--for', '30m', ...STORE, ...args)
  const failure = (identity: string, ...args: readonly string[]) =>
    failureOf('block', identity, ...STORE, ...args)
  const retryOf = async <S>(limiter: Limiter<S>, subject: S) => (await limiter.charge(subject)).retryAfterMs

  test('bans an identity for the time, in the limits that are bans and no others', async () => {
    const login = by<object>({ name: 'login', policy: banning })
    const api = by<object>({ name: 'api', policy: window })
    for (const limiter of [login, api]) await limiter.charge(ada)
    expect(await block('203.0.113.7')).toBe('banned "203.0.113.7" for 30m by login\n')
    const waitMs = await retryOf(login, ada)
    expect(waitMs).toBeGreaterThan(1_700_000)
    expect(waitMs).toBeLessThanOrEqual(1_800_000)
    expect(await retryOf(api, ada)).toBe(0)
    expect(await retryOf(login, { ip: '203.0.113.8' })).toBe(0)
    expect(JSON.parse(await block('203.0.113.7', '--json'))).toMatchObject({
      identity: '203.0.113.7',
      forMs: 1_800_000,
      blocked: [{ limiter: 'login', identity: '203.0.113.7' }],
    })
  })

  // What a limit counts by shows in its keys; an identity without a key is banned under each spelling of that kind.
  test.each([
    ['a network as wide as others', { ip: '2001:db8:1::1' }, 56, '2001:db8:7::1', ['2001:db8:7::/56']],
    ['a network of another width', { ip: '2001:db8:1::1' }, 48, '2001:db8:7::1', ['2001:db8:7::/48']],
    ['a network where others are IPv4', { ip: '203.0.113.9' }, 56, '2001:db8:7::1', ['2001:db8:7::/56']],
    ['IPv4 where others are networks', { ip: '2001:db8:1::1' }, 56, '192.0.2.1', ['192.0.2.1']],
    ['IPv4 where others are IPv4', { ip: '203.0.113.9' }, 56, '192.0.2.1', ['192.0.2.1']],
  ])('bans %s', async (_, seen, ipv6Prefix, typed, banned) => {
    await by<object>({ name: 'login', policy: banning, key: byIp({ ipv6Prefix }) }).charge(seen)
    const { blocked } = JSON.parse(await block(typed, '--json'))
    expect(blocked.map(({ identity }: { identity: string }) => identity)).toEqual(banned)
  })

  test('bans a name as limiters hash it', async () => {
    const login = by<string>({ name: 'login', policy: banning, key: (id) => id })
    await login.charge('bob')
    expect(await block('eve')).toMatch(/^banned "eve" for 30m by login/)
    expect((await login.charge('eve')).allowed).toBe(false)
    expect((await login.charge('bob')).allowed).toBe(true)
  })

  test.each([
    ['a name, where all keys are addresses', 'ada', 'the keys of login have identities of another kind'],
    ['a network of another width', '2001:db8:7::/64', 'pass the identity that inspect shows as "stored as"'],
  ])('refuses %s', async (_, identity, message) => {
    await by<object>({ name: 'login', policy: banning }).charge({ ip: '2001:db8:1::1' })
    const before = stored.states.size
    expect(await failure(identity, '--for', '1m')).toEqual([1, expect.stringContaining(message)])
    expect(stored.states.size).toBe(before)
  })

  test('bans for longer than the longest ban of the limit', async () => {
    const login = by<object>({ name: 'login', policy: banning })
    await login.charge(ada)
    expect(await mustRun('block', '203.0.113.7', '--for', '2h', ...STORE)).toContain('for 2h by login')
    expect(await retryOf(login, ada)).toBeGreaterThan(7_190_000)
    expect((await inspect('203.0.113.7'))[0]?.limitedForMs).toBeGreaterThan(7_190_000)
  })

  test('never shortens a ban, and leaves its place in a row as it is', async () => {
    const login = by<object>({ name: 'login', policy: banning })
    await login.blockFor(ada, '1m')
    await block('203.0.113.7')
    await mustRun('block', '203.0.113.7', '--for', '1m', ...STORE)
    const [standing] = await inspect('203.0.113.7')
    expect(standing).toMatchObject({ limited: 'banned', bans: 1, denials: 0, denialsUntil: null })
    expect(standing?.limitedForMs).toBeGreaterThan(1_700_000)
  })

  test('gives a new key the numbers of another one', async () => {
    const login = by<object>({ name: 'login', policy: banning })
    await login.charge({ ip: '203.0.113.8' })
    await block('203.0.113.7')
    expect(await inspect('203.0.113.7')).toMatchObject([
      { policy: '2 in 1h (fixed-window), with bans', remaining: 0, of: 2, bans: 1 },
    ])
  })

  test('needs a limit that is a ban, and that is no candidate', async () => {
    const fix = "wrap a policy, such as ban(policy, { after: 10, within: '1m', for: '1h' })"
    const needs = 'block requires a limit whose policy is a ban, and the store has none'
    expect(await failure('ada', '--for', '1m')).toEqual([
      1,
      'nothing is stored for "ada": the store has no limit under the prefix "hg"',
    ])
    const tried = by<object>({ name: 'api', policy: window, candidate: candidateLimits({ policy: banning }) })
    await tried.charge(ada)
    expect(await mustRun('inspect', '203.0.113.7', ...STORE)).toContain('api (candidate)\n')
    expect(await failure('203.0.113.7', '--for', '1m')).toEqual([1, `${needs} among api: ${fix}`])
  })
})

test('a search shows its progress on a terminal, as the share of the keys of the store', async () => {
  await by({ name: 'api', policy: slidingWindow({ limit: 5, window: '1m' }) }).charge(ada)
  let nowMs = 0
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => (nowMs += 300))
  const isTTY = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY')
  Object.defineProperty(process.stderr, 'isTTY', { value: true, configurable: true })
  try {
    const { stdout, stderr } = await run('release', '203.0.113.7', ...STORE)
    expect(stdout).toContain('released')
    expect(stderr).toBe('\r\u001b[K100% [####################] of 1 keys searched\r\u001b[K')
  } finally {
    if (isTTY === undefined) Reflect.deleteProperty(process.stderr, 'isTTY')
    else Object.defineProperty(process.stderr, 'isTTY', isTTY)
    clock.mockRestore()
  }
})
