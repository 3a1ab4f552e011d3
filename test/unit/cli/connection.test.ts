import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { fixedWindow, StoreError } from 'headgate'
import { connectStore } from '../../../src/cli/keys/connection.js'
import { readStoreUrl } from '../../../src/cli/keys/store-url.js'

const POLICY = fixedWindow({ limit: 2, window: '1h' })

/** What the store for Redis does on the client of a connection. */
const mockStore = { name: 'redis', apply: jest.fn(), documents: { read: jest.fn() } }
jest.mock('../../../src/redis.js', () => ({ redisStore: () => mockStore }))
const mockTransport = { slotOf: () => 7, send: jest.fn() }
jest.mock('../../../src/stores/redis/client.js', () => ({ transportOf: () => mockTransport }))

/** What the client of a test does. */
interface Behavior {
  readonly reply?: (words: readonly string[]) => unknown
  readonly connect?: () => Promise<unknown>
  /** What the client reports while it connects. */
  readonly reported?: Error
}

let folder: string
let behavior: Behavior
/** What the client was asked for. */
let asked: unknown[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'headgate-connection-'))
  behavior = {}
  asked = []
})
afterEach(() => {
  jest.useRealTimers()
  jest.resetModules()
  rmSync(folder, { recursive: true, force: true })
})

/** Installs a package, whose exports are these. */
function install(name: string, exports: object): void {
  const home = join(folder, 'node_modules', name)
  mkdirSync(home, { recursive: true })
  const path = join(home, 'index.js')
  writeFileSync(path, '')
  jest.doMock(pathToFileURL(path).href, () => exports, { virtual: true })
}

const connect = async () => {
  await behavior.connect?.()
  asked.push('connect')
}
const reply = async (words: readonly string[]) => {
  asked.push(words.join(' '))
  return behavior.reply?.(words) ?? (words[0] === 'info' ? 'cluster_enabled:0' : 'OK')
}
const report = (event: string, listener: (error: Error) => void) => {
  if (event === 'error' && behavior.reported) listener(behavior.reported)
}

/** The parts of ioredis that are used. */
class Ioredis {
  readonly options: object
  constructor(url: string, options: object) {
    this.options = options
    asked.push(url, options)
  }
  on = report
  connect = connect
  call = (...words: readonly string[]) => reply(words)
  disconnect = () => void asked.push('disconnect')
}

/** The parts of node-redis that are used. */
function nodeRedis(options: object) {
  asked.push(options)
  return {
    isOpen: behavior.connect === undefined,
    on: report,
    connect,
    sendCommand: reply,
    destroy: () => asked.push('destroy'),
  }
}

const connectTo = (url = 'redis://127.0.0.1:7000') => connectStore(readStoreUrl(url), folder)

async function failureOf(url?: string): Promise<string> {
  const error = await connectTo(url).then(
    () => undefined,
    (thrown: Error) => thrown,
  )
  expect(error?.constructor.name).toBe('InputError')
  return error?.message ?? ''
}

describe('the package', () => {
  test.each([['ioredis'], ['iovalkey']])('%s connects once, and repeats no command', async (name) => {
    install(name, { Redis: Ioredis })
    const connection = await connectTo()
    expect(asked[0]).toBe('redis://127.0.0.1:7000')
    expect(asked[1]).toMatchObject({
      lazyConnect: true,
      connectTimeout: 5000,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
    })
    expect((asked[1] as { retryStrategy(): unknown }).retryStrategy()).toBeNull()
    expect(asked.slice(2)).toEqual(['connect', 'info cluster'])
    expect(await connection.send('scan', '0')).toBe('OK')
    connection.close()
    expect(asked.slice(4)).toEqual(['scan 0', 'disconnect'])
  })

  test('redis connects once', async () => {
    install('redis', { createClient: nodeRedis, createSentinel: nodeRedis })
    const connection = await connectTo()
    const socket = { reconnectStrategy: false, connectTimeout: 5000 }
    expect(asked).toEqual([{ url: 'redis://127.0.0.1:7000', socket }, 'connect', 'info cluster'])
    expect(await connection.send('scan', '0')).toBe('OK')
    connection.close()
    expect(asked.slice(3)).toEqual(['scan 0', 'destroy'])
  })

  test.each([
    ['ioredis', ['iovalkey', 'redis', 'ioredis']],
    ['redis', ['iovalkey', 'redis']],
  ])('%s is the one that is used of %j', async (expected, names) => {
    for (const name of names) {
      const exports = { Redis: Ioredis, createClient: nodeRedis, createSentinel: nodeRedis }
      install(name, name === expected ? exports : {})
    }
    await connectTo()
    expect(asked).toContain('info cluster')
  })

  test.each<[string, string | undefined, object, string]>([
    ['none', undefined, {}, 'no Redis client is installed in this directory: run npm install ioredis'],
    [
      'an ioredis without Redis',
      'ioredis',
      {},
      'the installed version of ioredis is too old: run npm install ioredis@latest',
    ],
    [
      'a redis without createSentinel',
      'redis',
      { createClient: nodeRedis },
      'the installed version of redis is too old: run npm install redis@latest',
    ],
    [
      'a redis without createClient',
      'redis',
      { createSentinel: nodeRedis },
      'the installed version of redis is too old: run npm install redis@latest',
    ],
  ])('%s is said, with what to install', async (_, name, exports, message) => {
    if (name !== undefined) install(name, exports)
    expect(await failureOf()).toBe(message)
  })

  test('that cannot be loaded is said, with why', async () => {
    const path = join(folder, 'node_modules/ioredis')
    install('ioredis', {})
    jest.doMock(
      pathToFileURL(join(path, 'index.js')).href,
      () => {
        throw new Error('no license')
      },
      { virtual: true },
    )
    expect(await failureOf()).toBe('cannot load ioredis: no license')
  })
})

describe('a store', () => {
  beforeEach(() => install('ioredis', { Redis: Ioredis }))

  test('of another database is selected', async () => {
    await connectTo('redis://127.0.0.1:7000/5')
    expect(asked.slice(2)).toEqual(['connect', 'info cluster', 'select 5'])
  })

  test('applies operations, and returns the result of one', async () => {
    const key = { key: 'hg:1:api:{ada}', policy: POLICY }
    const forget = { type: 'forget', ...key } as const
    const take = { type: 'take', units: 0, ...key } as const
    const standing = { atMs: 1, remaining: 2, moreAfterMs: 0, resetAfterMs: 0, bannedForMs: 0 }
    const taken = { type: 'take', taken: 0, ...standing }
    mockStore.apply.mockImplementation(async ([{ type }]) => [type === 'take' ? taken : { type }])
    const connection = await connectTo()
    await connection.apply([forget, forget])
    expect(await connection.applyOne(take)).toBe(taken)
    expect(mockStore.apply.mock.calls).toEqual([[[forget]], [[forget]], [[take]]])
    mockStore.apply.mockRejectedValue(new Error('READONLY'))
    for (const failing of [() => connection.apply([forget]), () => connection.applyOne(take)])
      await expect(failing()).rejects.toThrow('the store at 127.0.0.1:7000 failed: redis: READONLY')
  })

  test('reads bytes and the time of the store, and changes nothing', async () => {
    const bytes = Buffer.alloc(16)
    behavior = { reply: ([command]) => (command === 'time' ? ['1790000000', '123999'] : undefined) }
    const connection = await connectTo()
    mockTransport.send.mockReturnValueOnce([Promise.resolve([bytes])])
    expect(await connection.readBytes('hg:1:api:{ada}')).toEqual({ bytes, atMs: 1_790_000_000_123 })
    const words = ['mget', 'hg:1:api:{ada}']
    expect(mockTransport.send.mock.calls).toEqual([[[{ shard: 7, words, firstKey: 1, keyCount: 1 }]]])
    mockTransport.send.mockReturnValueOnce([Promise.resolve([null])])
    expect(await connection.readBytes('hg:1:api:{eve}')).toMatchObject({ bytes: undefined })
  })

  test('reads published limits if the user has permission', async () => {
    const connection = await connectTo()
    const { read } = mockStore.documents
    const limits = [{ scope: 'api:cs', spec: { kind: 'consecutive', limit: 3 } }]
    read.mockResolvedValueOnce([{ version: '1', text: JSON.stringify({ limits }) }])
    expect(await connection.readLimits('hg:limits:api')).toEqual(limits)
    read.mockResolvedValueOnce([undefined])
    expect(await connection.readLimits('hg:limits:api')).toEqual([])
    read.mockRejectedValueOnce(new StoreError('redis', 'NOPERM', { replied: true }))
    expect(await connection.readLimits('hg:limits:api')).toEqual([])
    read.mockRejectedValueOnce(new StoreError('redis', 'closed'))
    await expect(connection.readLimits('hg:limits:api')).rejects.toThrow('failed: redis: closed')
  })

  const cannot = 'cannot use the store at 127.0.0.1:7000: '
  const refusal = (text: string) => ({
    reply: () => {
      throw new Error(text)
    },
  })
  const wrong = 'the store at 127.0.0.1:7000 rejected the user or the password in its URL'

  test.each<[string, Behavior, string]>([
    [
      'of a cluster',
      { reply: () => 'cluster_enabled:1' },
      'the store is one of several nodes of a Redis Cluster, which this command cannot search',
    ],
    ['that cannot be reached', { connect: () => Promise.reject(new Error('closed')) }, `${cannot}closed`],
    [
      'that cannot be reached, as the client reports',
      { connect: () => Promise.reject(new Error('closed')), reported: new Error('connect ECONNREFUSED') },
      `${cannot}connect ECONNREFUSED`,
    ],
    ['with another password', refusal('WRONGPASS invalid username-password pair'), wrong],
    ['with another password, before Redis 6', refusal('ERR invalid password'), wrong],
    ['without a password', refusal('ERR AUTH <password> called without any password configured'), wrong],
    [
      'with a password',
      refusal('NOAUTH Authentication required.'),
      'the store at 127.0.0.1:7000 requires a password: redis://:password@127.0.0.1:7000',
    ],
    ['that refuses', refusal('NOPERM no permission'), `${cannot}NOPERM no permission`],
  ])('%s fails, and the client is closed', async (_, own, message) => {
    behavior = own
    expect(await failureOf()).toBe(message)
    expect(asked.at(-1)).toBe('disconnect')
  })

  test('that repeats the password does not show it', async () => {
    behavior = refusal('ERR unknown command, with args beginning with: `p4ss word` `p4ss%20word`')
    expect(await failureOf('redis://:p4ss%20word@127.0.0.1:7000')).toBe(
      `${cannot}ERR unknown command, with args beginning with: \`***\` \`***\``,
    )
  })

  test('that fails later says so', async () => {
    const connection = await connectTo()
    behavior = refusal('NOPERM no permission for scan')
    await expect(connection.send('scan', '0')).rejects.toThrow(
      'the store at 127.0.0.1:7000 failed: NOPERM no permission for scan',
    )
  })

  test('that does not answer within five seconds fails', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] })
    behavior = { connect: () => new Promise(() => undefined) }
    const failure = failureOf()
    for (let i = 0; i < 20; i++) {
      await new Promise((resolve) => setImmediate(resolve))
      jest.advanceTimersByTime(500)
    }
    expect(await failure).toBe(`${cannot}no reply within 5000 ms`)
  })
})
