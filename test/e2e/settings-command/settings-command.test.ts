import { join } from 'node:path'
import { createLimiter, fixedWindow, sharedSettings } from 'headgate'
import { dashboard } from 'headgate/dashboard'
import { memcachedStore } from 'headgate/memcached'
import { redisStore } from 'headgate/redis'
import { valueHash } from '../../../src/keys/value-identity.js'
import { connections } from '../../integration/memcached/clients.js'
import { useRedis } from '../../integration/redis/use-redis.js'
import { runHere } from '../../support/run-command.js'
import { type Bundle, bundle } from '../../support/servers/bundle.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { until } from '../../support/servers/wait.js'
import { ROOT } from '../package/run.js'
import { describeOperators } from './operators.js'
import { bundleProgram, runProgram, runSettings } from './run-settings.js'

const WHY = ['--reason', 'a test', '--by', 'ada']

describe('on Redis', () => {
  const redis = useRedis()

  async function mustRun(...args: readonly string[]): Promise<string> {
    const options = { folder: ROOT, env: { HEADGATE_STORE: redis.server.url } }
    const { code, stdout, stderr } = await runHere(['settings', ...args], options)
    expect([code, stderr]).toEqual([0, ''])
    return stdout
  }

  test('a running limiter follows a change, show tells its limits, and undo restores them', async () => {
    const store = redisStore(redis.client)
    const settings = sharedSettings(store)
    const limiter = createLimiter<string>({
      name: 'api',
      policy: fixedWindow({ limit: 100, window: '1h' }),
      key: (id) => id,
      store,
      settings,
      timeout: '10s',
    })
    try {
      expect((await limiter.charge('acme')).limit).toBe(100)
      await mustRun('set', 'api', 'limit=200', ...WHY)
      await mustRun('block', 'api', '--identity', 'mallory', '--for', '1h', ...WHY)
      await until('the limiter follows', async () => (await limiter.charge('mallory')).source === 'blocked')
      expect((await limiter.charge('acme')).limit).toBe(200)
      await until('the limit is published', async () =>
        /^ {2}api +200 in 1h \(fixed-window\)$/m.test(await mustRun('show', 'api')),
      )
      const [block, raise] = await settings.changes('api')
      await mustRun('undo', 'api', raise?.id ?? '', ...WHY)
      await mustRun('undo', 'api', block?.id ?? '', ...WHY)
      expect(await settings.read('api')).toEqual({ limits: {}, overrides: [] })
    } finally {
      await limiter.close()
    }
  })

  test('--dry-run previews a change by what a dashboard has counted, and changes nothing', async () => {
    const store = redisStore(redis.client)
    const policy = fixedWindow({ limit: 3, window: '1h' })
    const limiter = createLimiter<string>({ name: 'counted', policy, key: (id) => id, store, timeout: '10s' })
    const page = dashboard({ limiters: [limiter], authorize: () => true })
    const tryIt = async (...args: readonly string[]) =>
      (await mustRun(...args, '--dry-run'))
        .replace(/ from .*Z$/m, '')
        .split('\n')
        .slice(1, -1)
    try {
      for (let i = 0; i < 5; i++) await limiter.charge('acme')
      for (let i = 0; i < 2; i++) await limiter.charge('globex')
      await page.close() // adds what is counted
      await until('the limit is published', async () =>
        (await mustRun('show', 'counted')).includes('3 in 1h'),
      )
      const [acme, globex] = ['acme', 'globex'].map(valueHash(undefined))
      expect([
        await tryIt('set', 'counted', 'limit=1'),
        await tryIt('exempt', 'counted', '--identity', 'acme'),
      ]).toEqual([
        [
          'preview of counted: 2 clients',
          '  denied at least once: 1 client, and with the change 2',
          `  newly denied: 1 client: ${globex} (2)`,
          'dry run: nothing was changed',
        ],
        [
          'preview of counted: 2 clients',
          '  denied at least once: 1 client, and with the change 0',
          `  no longer denied: 1 client: ${acme} (5)`,
          'dry run: nothing was changed',
        ],
      ])
      expect(await sharedSettings(store).read('counted')).toEqual({ limits: {}, overrides: [] })
    } finally {
      await page.close()
      await limiter.close()
    }
  })

  test('a document comes from the standard input', async () => {
    const env = { HEADGATE_STORE: redis.server.url }
    const args = ['settings', 'edit', 'piped', '-', '--base', 'none', ...WHY]
    const { code, stderr } = await runHere(args, { folder: ROOT, env, input: '{"mode":"report"}' })
    expect([code, stderr]).toEqual([0, ''])
    expect((await sharedSettings(redisStore(redis.client)).read('piped')).mode).toBe('report')
  })

  test('a server that does not listen is named', async () => {
    const env = { HEADGATE_STORE: 'redis://ada:let-me-in@127.0.0.1:1' }
    const { code, stderr } = await runHere(['settings', 'show', 'api'], { folder: ROOT, env })
    expect([code, stderr]).toEqual([1, expect.stringContaining('cannot use the store at 127.0.0.1:1')])
    expect(stderr).not.toContain('let-me-in')
  })
})

describe('on memcached, by a module', () => {
  const { open, closeAll } = connections()
  let server: MemcachedServer
  let program: Bundle
  let storeModule: Bundle

  beforeAll(async () => {
    server = await startMemcached({ own: true })
    program = await bundleProgram()
    storeModule = await bundle(join(__dirname, 'memcached-module.ts'))
  }, INSTALL_TIMEOUT_MS)
  afterAll(async () => {
    closeAll()
    await Promise.all([program, storeModule].map((each) => each?.remove()))
    await server?.stop()
  })

  const run = (...args: readonly string[]) =>
    runSettings(program, [...args, '--store', storeModule.path], { MEMCACHED_URL: server.url })

  test('changes are made, shown and undone', async () => {
    const { code, stdout, stderr } = await run('set', 'api', 'mode=report', ...WHY)
    expect([code, stderr, stdout]).toEqual([
      0,
      '',
      expect.stringMatching(/^ {2}mode {2}none -> report\npreview: .+\nchanged; /),
    ])
    const settings = sharedSettings(memcachedStore(open(server.url)))
    const [change] = await settings.changes('api')
    expect(change).toMatchObject({ by: 'ada', parts: [{ path: 'mode', after: 'report' }] })
    expect((await run('show', 'api')).stdout).toContain('no process has published them yet')
    expect((await run('undo', 'api', change?.id ?? '', ...WHY)).code).toBe(0)
    expect(await settings.read('api')).toEqual({ limits: {}, overrides: [] })
  })

  test('every command that reads a store ends, although the client of the module stays connected', async () => {
    const said = async (...args: readonly string[]) => {
      const { code, stderr } = await runProgram(program, args, { MEMCACHED_URL: server.url })
      return [code, stderr]
    }
    expect(await said('tune', storeModule.path, 'api')).toEqual([
      1,
      expect.stringContaining('no dashboard has counted clients of api'),
    ])
    expect(await said('tune', 'status', storeModule.path, 'api')).toEqual([0, ''])
    expect(await said('events', storeModule.path)).toEqual([0, ''])
  })

  test('a module that does not exist, or exports no store, is named', async () => {
    const missing = await runHere(['settings', 'show', 'api', '--store', './none.js'])
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('cannot load a store from')])
  })
})

describe('operators', () => describeOperators(4))
