import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  ban,
  byIp,
  byUser,
  candidateLimits,
  concurrency,
  consecutive,
  createLimiter,
  fixedWindow,
  type Limiter,
  type Policy,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { useRedis } from '../integration/redis/use-redis.js'
import { type CommandOptions, runHere } from '../support/run-command.js'
import { INSTALL_TIMEOUT_MS } from '../support/servers/install.js'
import { type RedisServer, startRedis } from '../support/servers/redis.js'
import { until } from '../support/servers/wait.js'

const MODULES = join(__dirname, '../../node_modules')
/** Packages, and where the versions of them are installed. */
const CLIENTS = [
  ['ioredis', 'ioredis'],
  ['ioredis', 'ioredis5'],
  ['redis', 'redis'],
  ['redis', 'redis5'],
  ['iovalkey', 'iovalkey'],
] as const
const PASSWORD = 'let-me-in'
const SECRET = 'a secret of 32 characters or more'

const redis = useRedis()
let root: string

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'headgate-inspect-'))
  for (const [name, installed] of CLIENTS) project(name, installed)
})
afterAll(() => rmSync(root, { recursive: true, force: true }))
beforeEach(async () => {
  charged.clear()
  await redis.client.flushdb()
})

/** Creates a project with a client of Redis, in the folder of its name. */
function project(name: string, installed: string): void {
  const folder = join(root, installed, 'node_modules')
  mkdirSync(folder, { recursive: true })
  symlinkSync(join(MODULES, installed), join(folder, name))
}

type RunOptions = Omit<CommandOptions, 'input'>

/** Runs `headgate` with arguments. */
function run(args: readonly string[], options: RunOptions = {}) {
  return runHere(args, { folder: join(root, 'ioredis'), ...options })
}

/** The limiters that have been charged. They publish their limits in the background. */
const charged = new Set<string>()

/** Returns the keys of states: all but those of documents. */
async function keysOfStates(): Promise<string[]> {
  return (await redis.client.keys('*')).filter((key) => !key.includes(':limits:'))
}

/** Runs a command that must succeed on the server of the tests. Returns what it prints. */
async function mustRun(args: readonly string[], options?: RunOptions): Promise<string> {
  await until('limits are published', async () => {
    const published = await Promise.all(
      Array.from(charged, (name) => redis.client.exists(`hg:limits:${name}`)),
    )
    return !published.includes(0)
  })
  const { code, stdout, stderr } = await run([...args, '--store', redis.server.url], options)
  expect([code, stderr]).toEqual([0, ''])
  return stdout
}

/** Runs a command with `--json` that must succeed. */
async function mustReport(args: readonly string[], options?: RunOptions) {
  return JSON.parse(await mustRun([...args, '--json'], options))
}

/** It begins by the clock, so that one of an hour may end in the middle of a test. */
const window = { limit: 2, window: '30d' } as const

/** Creates a limiter on the server of the tests. */
function limiterOf<Subject>(options: Parameters<typeof createLimiter<Subject>>[0]): Limiter<Subject> {
  const store = redisStore(redis.client)
  const limiter = createLimiter<Subject>({ store, denyCache: false, timeout: 10_000, ...options })
  const { name } = options
  if (name !== undefined) limiter.events.on('decision', () => charged.add(name))
  return limiter
}

/** Charges a subject until it is denied. */
async function exhaust<Subject>(limiter: Limiter<Subject>, subject: Subject): Promise<void> {
  while ((await limiter.charge(subject)).allowed);
}

describe.each(CLIENTS)('with the package %s (%s)', (_name, installed) => {
  test('inspect shows a denied client, release lets it in, and block bans it', async () => {
    const folder = join(root, installed)
    const policy = ban(fixedWindow(window), { after: 100, within: '1m', for: '1h' })
    const limiter = limiterOf<object>({ name: 'api', policy, key: byIp() })
    const client = { ip: '203.0.113.7' }
    await exhaust(limiter, client)

    const { limits } = await mustReport(['inspect', '203.0.113.7'], { folder })
    expect(limits).toMatchObject([
      { limiter: 'api', identity: '203.0.113.7', remaining: 0, limited: 'exhausted' },
    ])

    const released = await mustRun(['release', '203.0.113.7'], { folder })
    expect(released).toBe('released "203.0.113.7" from api\n')
    expect(await limiter.charge(client)).toMatchObject({ allowed: true, remaining: 1 })

    const blocked = await mustRun(['block', '203.0.113.7', '--for', '30m'], { folder })
    expect(blocked).toBe('banned "203.0.113.7" for 30m by api\n')
    const { allowed, retryAfterMs } = await limiter.charge(client)
    expect(allowed).toBe(false)
    expect(retryAfterMs).toBeGreaterThan(29 * 60_000)
    expect(retryAfterMs).toBeLessThanOrEqual(30 * 60_000)
    expect((await limiter.charge({ ip: '203.0.113.8' })).allowed).toBe(true)
    expect((await mustReport(['inspect', '203.0.113.7'], { folder })).limits).toMatchObject([
      { limited: 'banned', remaining: 0, limitedUntil: expect.stringMatching(/^\d{4}-.*Z$/) },
    ])
  })
})

describe('inspect', () => {
  test('shows each limit of each limiter in words, those limited for longest first', async () => {
    const user = { ip: '203.0.113.7' }
    const api = limiterOf<object>({
      name: 'api',
      limits: [
        { name: 'burst', policy: tokenBucket({ capacity: 100, refill: 100, every: '1m' }), key: byIp() },
        { name: 'row', policy: consecutive({ limit: 1 }), key: byIp() },
        { name: 'busy', policy: concurrency({ limit: 5 }), key: byIp() },
      ],
    })
    const unnamed = limiterOf<object>({
      policy: ban(slidingWindow({ limit: 5, window: '15m' }), { after: 3, within: '2m', for: ['1m', '1h'] }),
      key: byIp(),
    })
    await api.charge(user)
    await unnamed.blockFor(user, '1h')
    const { identity, limits } = await mustReport(['inspect', '203.0.113.7'])
    expect(identity).toBe('203.0.113.7')
    const byName = new Map(limits.map((each: { limit: string }) => [each.limit, each]))
    expect(limits.map((each: { limit: string }) => each.limit).slice(0, 2)).toEqual(['row', null])
    expect(byName.get('burst')).toEqual({
      limiter: 'api',
      limit: 'burst',
      candidate: false,
      policy: '100 in 1m (token-bucket)',
      identity: '203.0.113.7',
      remaining: 99,
      of: 100,
      inUse: null,
      limited: null,
      limitedForMs: null,
      limitedUntil: null,
      bans: null,
      denials: null,
      denialsUntil: null,
      freshAt: expect.stringMatching(/^\d{4}-/),
    })
    expect(byName.get('row')).toMatchObject({
      policy: '1 in a row (consecutive)',
      limited: 'exhausted',
      limitedForMs: null,
      freshAt: null,
    })
    expect(byName.get('busy')).toMatchObject({
      policy: '5 at once (concurrency)',
      remaining: 4,
      of: 5,
      inUse: 1,
      limited: null,
    })
    expect(byName.get(null)).toMatchObject({
      limiter: '_default',
      policy: 'sliding-window, with bans', // without a name, it publishes no limits
      limited: 'banned',
      bans: 1,
    })
    await api.close()
  })

  test('is text for people without --json', async () => {
    const policy = ban(fixedWindow(window), { after: 1, within: '1m', for: '1h' })
    const login = limiterOf<string>({ name: 'login', limits: [{ name: 'account', policy, key: (id) => id }] })
    await login.charge('eve')
    await login.blockFor('ada', '1h')
    const lines = (await mustRun(['inspect', 'ada'])).split('\n')
    expect(lines).toEqual([
      'login/account',
      '  policy      2 in 30d (fixed-window), with bans',
      '  remaining   0 of 2',
      expect.stringMatching(/^ {2}state +banned until \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ, for 60 min$/),
      '  bans        1 in a row',
      expect.stringMatching(/^ {2}fresh +\d{4}-/),
      expect.stringMatching(/^ {2}stored as +[\w-]{22}$/),
      '',
    ])
  })

  test('shows a client under each plan, and each policy that keeps its usage apart', async () => {
    const plans = [
      fixedWindow(window),
      fixedWindow({ limit: 90, window: '30d' }),
      fixedWindow({ limit: 7, window: '30d', onChange: 'reset' }),
    ]
    const limiter = limiterOf<{ ip: string; plan: number }>({
      name: 'api',
      policy: ({ plan }) => plans[plan] as Policy,
      key: byIp(),
    })
    const shownAfter = async (plan: number) => {
      await limiter.charge({ ip: '203.0.113.7', plan })
      await until('the plan is published', async () => {
        const text = (await redis.client.hget('hg:limits:api', 'text')) ?? ''
        return text.split('"scope"').length - 1 === plan + 1
      })
      const { limits } = await mustReport(['inspect', '203.0.113.7'])
      return limits.map(({ policy, remaining }: { policy: string; remaining: number }) => [policy, remaining])
    }
    expect(await shownAfter(0)).toEqual([['2 in 30d (fixed-window)', 1]])
    const shared = [
      ['2 in 30d (fixed-window)', 0],
      ['90 in 30d (fixed-window)', 88],
    ]
    expect(await shownAfter(1)).toEqual(shared)
    expect(await shownAfter(2)).toEqual([shared[0], ['7 in 30d (fixed-window)', 6], shared[1]])
  })

  test('reads, and writes nothing', async () => {
    const limiter = limiterOf<object>({ name: 'api', policy: fixedWindow(window), key: byIp() })
    await exhaust(limiter, { ip: '203.0.113.7' })
    const [key] = (await keysOfStates()) as [string]
    const before = [await redis.client.getBuffer(key), await redis.client.pexpiretime(key)]
    expect(await mustRun(['inspect', '203.0.113.7'])).toContain('exhausted until')
    expect([await redis.client.getBuffer(key), await redis.client.pexpiretime(key)]).toEqual(before)
    expect(await keysOfStates()).toHaveLength(1)
  })

  test('finds an address, a user and a name in their other spellings, and under a secret', async () => {
    const key = byUser((req: { user?: string }) => req.user)
    const limiter = limiterOf<object>({ name: 'api', policy: fixedWindow(window), key, secret: SECRET })
    await limiter.charge({ user: 'ada' })
    await limiter.charge({ ip: '2001:db8:7::1' })
    const env = { HEADGATE_SECRET: SECRET }
    for (const typed of ['ada', '2001:DB8:7:0::2'])
      expect((await mustReport(['inspect', typed], { env })).limits).toHaveLength(1)
    const other = { env: { OTHER: SECRET } }
    expect((await mustReport(['inspect', 'ada', '--secret-env', 'OTHER'], other)).limits).toHaveLength(1)
    expect(await mustRun(['inspect', 'ada'])).toBe(
      'nothing is stored for "ada" by api (if the limiters have a secret, set HEADGATE_SECRET)\n',
    )
  })

  test('finds an identity among several parts, and one as it is stored', async () => {
    const limiter = limiterOf<{ ip: string; path: string }>({
      name: 'api',
      policy: fixedWindow(window),
      key: [byIp(), ({ path }) => path],
    })
    await limiter.charge({ ip: '203.0.113.7', path: '/a' })
    await limiter.charge({ ip: '203.0.113.7', path: '/b' })
    await limiter.charge({ ip: '203.0.113.8', path: '/b' })
    const { limits } = await mustReport(['inspect', '203.0.113.7'])
    expect(limits).toHaveLength(2)
    const { identity } = limits[0]
    expect(identity).toMatch(/^203\.0\.113\.7\|[\w-]{22}$/)
    expect((await mustReport(['inspect', identity])).limits).toHaveLength(1)
    expect(await mustRun(['release', '203.0.113.7'])).toBe('released "203.0.113.7" from api (2 keys)\n')
    expect(await keysOfStates()).toHaveLength(1)
  })

  test('a fixed part, such as that of all unknown browsers at a login, stands for nobody', async () => {
    await limiterOf<string>({ name: 'login', policy: fixedWindow(window), key: (id) => id }).charge('ada')
    const [key] = (await keysOfStates()) as [string]
    await redis.client.rename(key, key.replace('}', '|stranger}'))
    expect((await mustReport(['inspect', 'ada'])).limits).toHaveLength(1)
    expect(await mustRun(['release', 'stranger'])).toContain('nothing is stored for "stranger"')
    expect(await keysOfStates()).toHaveLength(1)
  })

  test('shows candidates as such, and block leaves them out', async () => {
    const policy = ban(fixedWindow(window), { after: 1, within: '1m', for: '1h' })
    const limiter = limiterOf<object>({
      name: 'api',
      policy: fixedWindow(window),
      key: byIp(),
      candidate: candidateLimits({ policy }),
    })
    await limiter.charge({ ip: '203.0.113.7' })
    const { limits } = await mustReport(['inspect', '203.0.113.7'])
    expect(limits.map((each: { candidate: boolean }) => each.candidate).sort()).toEqual([false, true])
    expect(await mustRun(['inspect', '203.0.113.7'])).toContain('api (candidate)\n')
    expect(await failureOf(['block', '203.0.113.7', '--for', '1h'])).toEqual([
      1,
      expect.stringContaining('the store has none among api: wrap a policy, such as ban(policy'),
    ])
    expect(await mustRun(['release', '203.0.113.7'])).toMatch(/^released "203.0.113.7" from api[, ].*api/)
    expect(await keysOfStates()).toHaveLength(0)
  })

  test('--limiter narrows to a limiter, or to one of its limits', async () => {
    const limits = ['one', 'two'].map((name) => ({ name, policy: fixedWindow(window), key: byIp() }))
    for (const name of ['api', 'app']) await limiterOf<object>({ name, limits }).charge({ ip: '203.0.113.7' })
    const count = async (...names: string[]) => {
      const narrow = names.flatMap((name) => ['--limiter', name])
      return (await mustReport(['inspect', '203.0.113.7', ...narrow])).limits.length
    }
    expect([await count(), await count('api'), await count('api/two')]).toEqual([4, 2, 1])
    expect(await count('api/one', 'app')).toBe(3)
    expect(await mustRun(['inspect', '203.0.113.7', '--limiter', 'apii'])).toBe(
      'nothing is stored for "203.0.113.7" by "apii", which has no keys; did you mean api?\n',
    )
    expect(await mustRun(['release', '203.0.113.7', '--limiter', 'app'])).toBe(
      'released "203.0.113.7" from app/one, app/two\n',
    )
    expect(await count()).toBe(2)
  })

  test('skips keys of other programs, of another format, and of other prefixes', async () => {
    const client = redis.client.duplicate({ keyPrefix: '[a]*:' })
    try {
      const store = redisStore(client)
      const limiter = createLimiter<object>({
        ...{ name: 'api', policy: fixedWindow(window), key: byIp(), store },
        timeout: '10s',
      })
      await limiter.charge({ ip: '203.0.113.7' })
    } finally {
      client.disconnect()
    }
    const [key] = (await keysOfStates()) as [string]
    const plain = key.slice('[a]*:'.length)
    await redis.client.lpush(plain.replace(':3:', ':4:'), 'x')
    await redis.client.set(plain.replace(':fw:', ':ow:'), 'x')
    await redis.client.set(plain.replace(':fw:', ':fw-2-2592000000:'), 'x')
    await redis.client.set(plain.replace('api', 'a b'), 'x')
    await redis.client.set(plain.replace('}', ''), 'x')
    await redis.client.set('hg:3:\u202e', 'x')
    await redis.client.set(Buffer.from([0x68, 0x67, 0x3a, 0x33, 0x3a, 0xff, 0x00]), 'x')
    await redis.client.set(plain.replace('hg', 'aX:hg'), 'x')
    expect(await mustRun(['inspect', '203.0.113.7'])).toBe(
      'nothing is stored for "203.0.113.7": the store has no limit under the prefix "hg"\n',
    )
    const { limits } = await mustReport(['inspect', '203.0.113.7', '--prefix', '[a]*:hg'])
    expect(limits).toHaveLength(1)
  })

  test('searches a store of many keys to its end', async () => {
    const limiter = limiterOf<object>({ name: 'api', policy: fixedWindow(window), key: byIp() })
    await limiter.charge({ ip: '203.0.113.7' })
    await redis.server.cli('eval', "for i = 1, 20000 do redis.call('set', 'hg:3:filler:' .. i, 'x') end", 0)
    expect((await mustReport(['inspect', '203.0.113.7'])).limits).toHaveLength(1)
  })

  test('reads the store from HEADGATE_STORE', async () => {
    const { code, stdout } = await run(['inspect', 'ada'], { env: { HEADGATE_STORE: redis.server.url } })
    expect([code, stdout]).toEqual([0, expect.stringContaining('nothing is stored for "ada"')])
  })
})

describe('block', () => {
  const policy = ban(fixedWindow(window), { after: 1, within: '1m', for: ['1m', '1h'] })

  test('bans an identity without keys, as the limits of other keys show', async () => {
    const login = limiterOf<{ ip: string; user: string }>({
      name: 'login',
      limits: [
        { name: 'address', policy, key: byIp() },
        { name: 'account', policy, key: ({ user }) => user },
        { name: 'rate', policy: fixedWindow(window), key: byIp() },
      ],
    })
    await login.charge({ ip: '2001:db8:1::1', user: 'ada' })

    expect(await mustRun(['block', '2001:db8:7::1', '--for', '1h', '--limiter', 'login/address'])).toBe(
      'banned "2001:db8:7::1" for 1h by login/address\n',
    )
    const banned = await login.charge({ ip: '2001:db8:7::2', user: 'bob' })
    expect(banned).toMatchObject({ allowed: false, limitName: 'address' })

    expect(await mustRun(['block', 'eve', '--for', '1m'])).toMatch(/^banned "eve" for 1m by login\/account/)
    expect(await login.charge({ ip: '192.0.2.1', user: 'eve' })).toMatchObject({
      allowed: false,
      limitName: 'account',
    })
    expect((await login.charge({ ip: '192.0.2.1', user: 'bob' })).allowed).toBe(true)
  })

  test('bans the network of an IPv6 address by which a limit counts, by default /56', async () => {
    const client = { ip: '2001:db8:7::1' }
    const other = { ip: '2001:db8:8::1' }
    for (const [name, ipv6Prefix, seen] of [
      ['wide', 48, { ip: '2001:db8:1::1' }],
      ['narrow', 56, { ip: '203.0.113.7' }],
    ] as const) {
      const limiter = limiterOf<object>({ name, policy, key: byIp({ ipv6Prefix }) })
      await limiter.charge(seen)
      const { blocked } = await mustReport(['block', client.ip, '--for', '1h', '--limiter', name])
      expect(blocked).toMatchObject([{ limiter: name, identity: `2001:db8:7::/${ipv6Prefix}` }])
      expect((await limiter.charge(client)).allowed).toBe(false)
      expect((await limiter.charge(other)).allowed).toBe(true)
    }
    const narrow = ['--for', '1h', '--limiter', 'narrow']
    expect(await failureOf(['block', '2001:db8:7::/64', ...narrow])).toEqual([
      1,
      expect.stringContaining('the keys of narrow have identities of another kind'),
    ])
    expect(await mustRun(['block', '192.0.2.1', ...narrow])).toBe('banned "192.0.2.1" for 1h by narrow\n')
  })

  test('bans an identity of several parts as it is stored', async () => {
    const limiter = limiterOf<{ ip: string; path: string }>({
      name: 'api',
      policy,
      key: [byIp(), ({ path }) => path],
    })
    const subject = { ip: '203.0.113.7', path: '/a' }
    await limiter.charge(subject)
    expect(await failureOf(['block', '203.0.113.7', '--for', '1h'])).toEqual([
      1,
      expect.stringContaining(
        'the keys of api have identities of another kind: pass the identity that inspect',
      ),
    ])
    const { limits } = await mustReport(['inspect', '203.0.113.7'])
    expect(await mustReport(['block', limits[0].identity, '--for', '1h'])).toMatchObject({
      forMs: 3_600_000,
      blocked: [{ limiter: 'api', limit: null, identity: limits[0].identity }],
    })
    expect((await limiter.charge(subject)).allowed).toBe(false)
  })

  test('never shortens a ban, and bans for longer than the longest of the limit', async () => {
    const limiter = limiterOf<object>({ name: 'api', policy, key: byIp() })
    const client = { ip: '203.0.113.7' }
    await limiter.blockFor(client, '1h')
    const [key] = (await keysOfStates()) as [string]
    await mustRun(['block', '203.0.113.7', '--for', '1m'])
    expect((await limiter.charge(client)).retryAfterMs).toBeGreaterThan(3_500_000)
    expect(await redis.client.pttl(key)).toBeGreaterThan(7_100_000)

    await mustRun(['block', '203.0.113.7', '--for', '2h'])
    expect((await limiter.charge(client)).retryAfterMs).toBeGreaterThan(7_100_000)
  })

  test('keeps what the client has used, and how many bans it had', async () => {
    const limiter = limiterOf<object>({ name: 'api', policy, key: byIp() })
    const client = { ip: '203.0.113.7' }
    await limiter.charge(client)
    await limiter.blockFor(client, '1m')
    await mustRun(['block', '203.0.113.7', '--for', '10m'])
    const [{ of, bans, limitedForMs }] = (await mustReport(['inspect', '203.0.113.7'])).limits
    expect([of, bans]).toEqual([2, 1])
    expect(limitedForMs).toBeGreaterThan(590_000)
    const [key] = (await keysOfStates()) as [string]
    const state = (await redis.client.getBuffer(key)) as Buffer
    expect(state.readDoubleLE(8)).toBe(1) // the count of its window
  })

  test('fails where no limit is a ban, and in a store without limits', async () => {
    expect(await failureOf(['block', 'ada', '--for', '1h'])).toEqual([
      1,
      expect.stringContaining('the store has no limit under the prefix "hg"'),
    ])
    await limiterOf<string>({ name: 'api', policy: fixedWindow(window), key: (id) => id }).charge('ada')
    expect(await failureOf(['block', 'ada', '--for', '1h'])).toEqual([
      1,
      expect.stringContaining("wrap a policy, such as ban(policy, { after: 10, within: '1m', for: '1h' })"),
    ])
    expect(await failureOf(['block', 'ada', '--for', '1h', '--limiter', 'appi'])).toEqual([
      1,
      expect.stringContaining('by "appi", which has no keys; did you mean api?'),
    ])
  })
})

describe('hostile identities', () => {
  test.each([
    ['markup', '<script>alert(1)</script>'],
    ['right-to-left marks', 'ada\u202e\u200f'],
    ['escape sequences', '\u001b[2J\u001b]0;x\u0007'],
    ['a pattern', '*[a-z]?\\'],
    ['a key', 'hg:3:api:fw:{ada}'],
    ['1024 characters', 'x'.repeat(1024)],
  ])('%s', async (_what, identity) => {
    const limiter = limiterOf<string>({ name: 'api', policy: fixedWindow(window), key: (id) => id })
    await exhaust(limiter, identity)
    await limiter.charge('ada')
    const shown = await mustRun(['inspect', identity])
    expect(shown).toContain('exhausted until')
    const { limits, identity: reported } = await mustReport(['inspect', identity])
    expect([limits.length, reported]).toEqual([1, identity])
    const released = await mustRun(['release', identity])
    for (const output of [shown, released, await mustRun(['release', identity])])
      expect(output).not.toMatch(/[^\n -~…]/)
    expect((await limiter.charge(identity)).allowed).toBe(true)
    expect((await limiter.peek('ada')).remaining).toBe(1)
  })

  test('what can be no key is a wrong argument', async () => {
    for (const identity of ['', ' ', 'x'.repeat(10_240)])
      expect(await failureOf(['inspect', identity])).toEqual([
        2,
        expect.stringContaining('the identity must have 1 to 1024 characters'),
      ])
  })
})

async function failureOf(args: readonly string[], url = redis.server.url, options?: RunOptions) {
  const { code, stdout, stderr } = await run([...args, '--store', url], options)
  expect(stdout).toBe('')
  expect(stderr).toMatch(/^headgate: [ -~]+\n$/)
  return [code, stderr]
}

describe('failures', () => {
  let secured: RedisServer
  let silent: Server
  const sockets = new Set<Socket>()

  beforeAll(async () => {
    secured = await startRedis({ own: true })
    await secured.cli('acl', 'setuser', 'bob', 'on', '>pw', '~*', '+@all', '-scan')
    const own = '+evalsha +eval +script|load +unlink +mget +set +setrange +del +exists +time +info'.split(' ')
    await secured.cli('acl', 'setuser', 'eve', 'on', '>pw', '~hg:*', ...own, '+scan', '+dbsize', '+pttl')
    await secured.cli('config', 'set', 'requirepass', PASSWORD)
    silent = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    mkdirSync(join(root, 'empty'))
    mkdirSync(join(root, 'broken/node_modules/ioredis'), { recursive: true })
    writeFileSync(join(root, 'broken/node_modules/ioredis/index.js'), "throw new Error('no\\nlicense')")
    mkdirSync(join(root, 'old/node_modules/redis'), { recursive: true })
    writeFileSync(join(root, 'old/node_modules/redis/index.js'), 'exports.createClient = () => ({})')
  }, INSTALL_TIMEOUT_MS)
  afterAll(async () => {
    for (const socket of sockets) socket.destroy()
    silent?.close()
    await secured?.stop()
  })

  const urlOf = (credentials: string) => secured.url.replace('redis://', `redis://${credentials}`)

  test.each(['ioredis', 'redis'])('of the server, by the package %s', async (name) => {
    const at = { folder: join(root, name) }
    const port = (silent.address() as AddressInfo).port
    const failures: [url: string, message: string][] = [
      [urlOf(':wrong-password@'), 'rejected the user or the password in its URL'],
      [urlOf('bob:wrong-password@'), 'rejected the user or the password in its URL'],
      [urlOf(''), 'requires a password: redis://:password@127.0.0.1'],
      [`${urlOf(`:${PASSWORD}@`)}/99`, 'DB index is out of range'],
      ['redis://:wrong-password@127.0.0.1:1', 'cannot use the store at 127.0.0.1:1: connect ECONNREFUSED'],
      [`redis://:wrong-password@127.0.0.1:${port}`, 'no reply within 5000 ms'],
    ]
    await Promise.all(
      failures.map(async ([url, message]) => {
        const [code, stderr] = await failureOf(['inspect', 'ada'], url, at)
        expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
        expect(stderr).not.toMatch(/wrong-password|let-me-in/)
      }),
    )
    const { code } = await run(['inspect', 'ada', '--store', urlOf(`:${PASSWORD}@`)], at)
    expect(code).toBe(0)
  })

  test('of a server that repeats the password', async () => {
    const reply = '-ERR unknown command `HELLO`, with args beginning with: `p4$$ word` `p4$$%20word`\r\n'
    const parrot = createServer((socket) => {
      socket.on('error', () => undefined).on('data', () => socket.write(reply.repeat(5)))
    }).listen(0, '127.0.0.1')
    await once(parrot, 'listening')
    try {
      const { port } = parrot.address() as AddressInfo
      const [code, stderr] = await failureOf(['inspect', 'ada'], `redis://:p4$$%20word@127.0.0.1:${port}`)
      expect([code, stderr]).toEqual([1, expect.stringContaining('beginning with: `***`')])
      expect(stderr).not.toContain('word')
    } finally {
      parrot.close()
    }
  })

  test('of the client: none, one that is too old, and one that cannot be loaded', async () => {
    const failure = (folder: string) => {
      return failureOf(['inspect', 'ada'], redis.server.url, { folder: join(root, folder) })
    }
    const none = 'headgate: no Redis client is installed in this directory: run npm install ioredis\n'
    expect(await failure('empty')).toEqual([1, none])
    expect(await failure('old')).toEqual([
      1,
      expect.stringContaining('too old: run npm install redis@latest'),
    ])
    expect(await failure('broken')).toEqual([1, expect.stringContaining('cannot load ioredis: no license')])
  })

  test('of a user who may not search', async () => {
    expect(await failureOf(['inspect', 'ada'], urlOf('bob:pw@'))).toEqual([
      1,
      expect.stringContaining('failed: NOPERM'),
    ])
  })

  test.each(['ioredis', 'redis'])(
    'no permissions are needed but those of docs/inspect.md, by the package %s',
    async (name) => {
      const policy = ban(fixedWindow(window), { after: 1, within: '1m', for: '1h' })
      const client = new Redis(urlOf(`:${PASSWORD}@`), { autoResendUnfulfilledCommands: false })
      try {
        const limiter = limiterOf<string>({ name: 'api', policy, key: (id) => id, store: redisStore(client) })
        await limiter.charge('ada')
      } finally {
        client.disconnect()
      }
      for (const args of [
        ['inspect', 'ada'],
        ['block', 'ada', '--for', '1h'],
        ['release', 'ada'],
      ]) {
        const { code, stdout, stderr } = await run([...args, '--store', urlOf('eve:pw@')], {
          folder: join(root, name),
        })
        expect([code, stderr, stdout]).toEqual([0, '', expect.stringContaining('api')])
      }
    },
  )

  test.each([
    [['inspect'], 'no identity given'],
    [['inspect', 'ada', 'eve'], 'expected one identity, got 2: quote an identity that contains spaces'],
    [['inspect', 'ada', '--limitr', 'api'], 'unknown option "--limitr"; did you mean --limiter?'],
    [['inspect', 'ada', '--for', '1h'], 'unknown option "--for"'],
    [['inspect', 'ada', '--prefix', ''], '--prefix must not be empty'],
    [['inspect', 'ada', '--secret-env', 'NO_SUCH'], 'but that environment variable is not set'],
    [['block', 'ada'], '--for is required, such as --for 1h'],
    [['block', 'ada', '--for', '60'], '--for must be a duration with a unit'],
    [['inspct', 'ada'], 'unknown command "inspct"; did you mean inspect?'],
  ])('an argument: %j', async (args, message) => {
    expect(await failureOf(args)).toEqual([2, expect.stringContaining(message)])
  })

  test('a secret that is too short is a wrong argument, and is not shown', async () => {
    const [code, stderr] = await failureOf(['inspect', 'ada'], undefined, {
      env: { HEADGATE_SECRET: 'hunter2' },
    })
    expect([code, stderr]).toEqual([2, expect.stringContaining('HEADGATE_SECRET: secret must be a string')])
    expect(stderr).not.toContain('hunter2')
  })

  test.each([
    ['postgres://ada:hunter2@127.0.0.1', '--store must be a URL such as redis://'],
    ['ada:hunter2@127.0.0.1', '--store must be a URL such as redis://'],
    ['redis://', '--store must be a URL such as redis://'],
    ['redis+cluster://ada:hunter2@127.0.0.1', 'this command cannot search a Redis Cluster'],
    ['redis://ada:hunter2@127.0.0.1/abc', 'with the number of a database as its path'],
    ['redis://ada:hunter2%@127.0.0.1', 'must be percent-encoded'],
  ])('a store that is no URL of one server: %s', async (url, message) => {
    const [code, stderr] = await failureOf(['inspect', 'ada'], url)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
    expect(stderr).not.toContain('hunter2')
  })

  test('a store must be given', async () => {
    const { code, stderr } = await run(['inspect', 'ada'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('--store is required')])
  })
})

describe('a server with slots', () => {
  let node: RedisServer

  beforeAll(async () => {
    node = await startRedis({ args: ['--cluster-enabled', 'yes'] })
  }, INSTALL_TIMEOUT_MS)
  afterAll(() => node?.stop())

  test('is rejected if other nodes have the other slots', async () => {
    await node.cli('CLUSTER', 'ADDSLOTSRANGE', 0, 8191)
    expect(await failureOf(['inspect', 'ada'], node.url)).toEqual([
      1,
      expect.stringContaining('one of several nodes of a Redis Cluster'),
    ])
  })

  test.each(CLIENTS.map(([, installed]) => installed))(
    'that has all of them, as hosted clusters do, is searched and changed (%s)',
    async (installed) => {
      const missing = /^cluster_slots_assigned:8192/m.test(await node.cli('CLUSTER', 'INFO'))
      if (missing) await node.cli('CLUSTER', 'ADDSLOTSRANGE', 8192, 16383)
      await until('it is up', async () => /cluster_state:ok/.test(await node.cli('CLUSTER', 'INFO')))
      await node.cli('FLUSHALL')
      const client = new Redis(node.url, { autoResendUnfulfilledCommands: false })
      const policy = ban(fixedWindow({ limit: 3, window: '1d' }), { after: 9, within: '1h', for: '1d' })
      const options = { store: redisStore(client), key: byIp(), timeout: '10s' } as const
      const names = ['api', 'login', 'search', 'upload'].map((each) => `${each}-${installed}`)
      const limiters = names.map((name) => createLimiter({ ...options, name, policy }))
      for (const limiter of limiters) await limiter.charge({ ip: '192.0.2.1' })
      const folder = join(root, installed)
      const command = async (...args: string[]) => {
        const { code, stdout, stderr } = await run([...args, '--store', node.url], { folder })
        expect([code, stderr]).toEqual([0, ''])
        return stdout
      }
      const listed = JSON.parse(await command('inspect', '192.0.2.1', '--json'))
      expect(listed.limits.map(({ limiter }: { limiter: string }) => limiter).sort()).toEqual(names)
      await command('block', '192.0.2.1', '--for', '1h')
      for (const limiter of limiters) expect((await limiter.charge({ ip: '192.0.2.1' })).allowed).toBe(false)
      await command('release', '192.0.2.1')
      expect(await node.cli('KEYS', '*{*')).toBe('')
      client.disconnect()
    },
  )
})
