import type { EventEmitter } from 'node:events'
import { mkdir, mkdtemp, rm, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLimiter, fixedWindow, slidingWindow } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { hintFor } from '../../../src/stores/redis/hints.js'
import { forgetWarnings } from '../../../src/util/warn-once.js'
import { makeCertificate } from '../../support/certificate.js'
import { type FaultyProxy, startProxy } from '../../support/proxy.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { startRedisNode } from '../../support/servers/redis-node.js'
import { until } from '../../support/servers/wait.js'

let server: RedisServer
let renamed: RedisServer
/** Has half of the slots of a Redis Cluster, and requires client certificates on its TLS port. */
let clustered: RedisServer
let silent: FaultyProxy
let folder: string

beforeAll(async () => {
  server = await startRedis({ own: true })
  const { cert, key } = await makeCertificate()
  folder = await mkdtemp(join(tmpdir(), 'headgate-hints-'))
  const files = [join(folder, 'cert.pem'), join(folder, 'key.pem')] as const
  await Promise.all([writeFile(files[0], cert), writeFile(files[1], key)])
  const tls = ['--tls-cert-file', files[0], '--tls-key-file', files[1], '--tls-auth-clients', 'no']
  renamed = await startRedisNode(
    'redis-renamed',
    ({ port }) => [
      '--tls-port',
      String(port + 1),
      ...tls,
      '--tls-ca-cert-file',
      files[0],
      '--rename-command',
      'EVALSHA',
      '',
    ],
    [1],
  )
  clustered = await startRedisNode(
    'redis-mutual',
    ({ port }) => [
      ...['--tls-port', String(port + 1), ...tls.slice(0, 4), '--tls-auth-clients', 'yes'],
      ...['--tls-ca-cert-file', files[0], '--cluster-enabled', 'yes'],
    ],
    [1],
  )
  await clustered.cli('CLUSTER', 'ADDSLOTSRANGE', 0, 8191)
  silent = await startProxy(server)
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  await silent?.stop()
  await Promise.all([server?.stop(), renamed?.stop(), clustered?.stop()])
  if (folder) await rm(folder, { recursive: true })
})

const texts: string[] = []
const ends: (() => unknown)[] = []

beforeEach(() => {
  forgetWarnings()
  texts.length = 0
  jest.spyOn(process, 'emitWarning').mockImplementation((text) => void texts.push(String(text)))
})

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
  jest.restoreAllMocks()
})

const DRIVERS = {
  ioredis(url: string, tls = {}) {
    const secure = url.startsWith('rediss:') && { tls }
    const client = new Redis(url, {
      ...{ autoResendUnfulfilledCommands: false, retryStrategy: () => 20, ...secure },
    })
    client.on('error', () => undefined)
    ends.push(() => {
      // A handshake that is cut off fails, after ioredis 6 has stopped listening for errors of the connection.
      client.stream?.on('error', () => undefined)
      client.disconnect()
    })
    return client
  },
  'node-redis'(url: string, tls = {}) {
    const secure = url.startsWith('rediss:') && { tls: true as const, ...tls }
    const client = createClient({ url, socket: { reconnectStrategy: () => 20, ...secure } })
    client.on('error', () => undefined)
    client.connect().catch(() => undefined)
    ends.push(() => client.destroy())
    return client
  },
} as const

const config = async (...words: readonly string[]) => {
  await server.cli('CONFIG', 'SET', ...words)
}
async function hasSaved(status: 'ok' | 'err'): Promise<boolean> {
  const info = await server.cli('INFO', 'persistence')
  if (info.includes('rdb_bgsave_in_progress:1')) return false
  if (info.includes(`rdb_last_bgsave_status:${status}`)) return true
  await server.cli('BGSAVE').catch(() => undefined)
  return false
}

const tlsPort = () => renamed.port + 1
const withUser = (user: string) => `redis://${user}@${server.host}:${server.port}`

/** What is wrong, which client that is, the error in the warning, and its fix. */
const STATES: readonly (readonly [string, () => string, () => unknown, RegExp])[] = [
  [
    'a replica',
    () => server.url,
    async () => {
      await server.cli('REPLICAOF', '127.0.0.1', 1)
      ends.push(() => server.cli('REPLICAOF', 'NO', 'ONE'))
    },
    /READONLY .*\. Connect to the master/,
  ],
  [
    'a full server',
    () => server.url,
    async () => {
      await config('maxmemory', '1')
      ends.push(() => config('maxmemory', '0'))
    },
    /OOM .*\. Raise maxmemory/,
  ],
  [
    'a user who may not run scripts',
    () => withUser('limited:secret'),
    () => server.cli('ACL', 'SETUSER', 'limited', 'on', '>secret', '~*', '+@all', '-evalsha'),
    /NOPERM .*\. Allow the client's user/,
  ],
  [
    'a wrong password',
    () => withUser('nobody:secret'),
    () => undefined,
    /WRONGPASS .*\. Correct the client's user/,
  ],
  [
    'a missing password',
    () => server.url,
    async () => {
      await config('requirepass', 'secret')
      const url = `redis://:secret@${server.host}:${server.port}`
      const admin = new Redis(url)
      ends.push(async () => {
        await admin.config('SET', 'requirepass', '')
        admin.disconnect()
      })
    },
    /NOAUTH .*\. Give the client a password, or correct the one that it has/,
  ],
  ['renamed commands', () => renamed.url, () => undefined, /unknown command .*\. Enable EVAL and EVALSHA/],
  [
    'TLS without a TLS client',
    () => `redis://${renamed.host}:${tlsPort()}`,
    () => undefined,
    /(ECONNRESET|Socket closed).*\. If the server uses TLS on this port, use a rediss/,
  ],
  [
    'an unknown certificate',
    () => `rediss://${renamed.host}:${tlsPort()}`,
    () => undefined,
    /self-signed certificate\. Trust the server's certificate/,
  ],
  [
    'a TLS client at a port without TLS',
    () => `rediss://${server.host}:${server.port}`,
    () => undefined,
    /no reply within 100 ms\. The client is still connecting\. If the server does not use TLS .* redis:/,
  ],
  [
    'a server that says nothing',
    () => `redis://${silent.url}`,
    () => silent.behave({ swallow: 'both' }),
    /no reply within 100 ms\. The client (is still connecting\. Check that Redis runs|is waiting for the server to be ready)/,
  ],
  [
    'a server that requires replicas',
    () => server.url,
    async () => {
      await config('min-replicas-to-write', '1')
      ends.push(() => config('min-replicas-to-write', '0'))
    },
    /NOREPLICAS .*\. Connect the replicas/,
  ],
  [
    'a server that cannot save',
    () => server.url,
    async () => {
      const [, dir = ''] = (await server.cli('CONFIG', 'GET', 'dir')).split('\n')
      const inTheWay = join(dir, 'dump.rdb')
      await rm(inTheWay, { force: true, recursive: true })
      await mkdir(inTheWay)
      await config('save', '3600 1')
      ends.push(async () => {
        await rmdir(inTheWay)
        await until('saving works', () => hasSaved('ok'))
        await config('save', '')
      })
      await until('saving fails', () => hasSaved('err'))
    },
    /MISCONF .*\. The server cannot save to disk/,
  ],
  [
    'a server that is busy with a script',
    () => server.url,
    async () => {
      await config('busy-reply-threshold', '10')
      const admin = new Redis(server.url)
      const loop = admin.eval("while true do redis.call('TIME') end", 0).catch(() => undefined)
      ends.push(async () => {
        await server.cli('SCRIPT', 'KILL')
        await loop
        admin.disconnect()
      })
      await until('it is busy', () =>
        server.cli('PING').then(
          () => false,
          ({ message }: Error) => message.includes('BUSY'),
        ),
      )
    },
    /BUSY .*\. The server runs a long script.*SCRIPT KILL/,
  ],
  [
    'a Cluster with lost slots',
    () => clustered.url,
    () => undefined,
    /CLUSTERDOWN .*\. The Cluster has slots without a master/,
  ],
  ['no server', () => `redis://${server.host}:1`, () => undefined, /ECONNREFUSED .*\. Check that Redis runs/],
]

describe.each(Object.entries(DRIVERS))('with a client of %s', (_driver, connect) => {
  test.each(STATES)(
    'a warning about %s names the limiter, what requests get, and the fix',
    async (_what, url, begin, fix) => {
      await begin()
      const limiter = createLimiter({
        ...{ name: 'api', limit: 100, window: '1h', key: (id: string) => id },
        store: redisStore(connect(url())),
      })
      await until('the warning has the fix', async () => {
        await limiter.charge('ada')
        return texts.some((text) => fix.test(text))
      })
      const text = texts.find((each) => fix.test(each))
      expect(text).toContain('a request of the limiter api (redis: ')
      expect(text).toContain('Requests that it cannot decide are limited by this process alone')
      expect(text).toContain('Time-outs are reported once, and so are other errors.')
    },
  )

  test.each<[string, () => string, RegExp]>([
    ['no server', () => `redis://${server.host}:1`, /ECONNREFUSED .*\. Check that Redis runs/],
    ['a wrong password', () => withUser('nobody:secret'), /WRONGPASS .*\. Correct the client's user/],
    ['TLS', () => `redis://${renamed.host}:${tlsPort()}`, /(ECONNRESET|Socket closed).*use a rediss/],
    [
      'an unknown certificate',
      () => `rediss://${renamed.host}:${tlsPort()}`,
      /\. Trust the server's certificate/,
    ],
  ])('a store of a client that has failed before also warns with the reason: %s', async (_what, url, fix) => {
    const client: EventEmitter = connect(url())
    await new Promise((resolve) => client.on('reconnecting', resolve))
    const store = redisStore(client as Redis)
    const limiter = createLimiter({ limit: 100, window: '1h', key: (id: string) => id, store })
    await until('the warning has the fix', async () => {
      await limiter.charge('ada')
      return texts.some((text) => fix.test(text))
    })
    for (let i = 0; i < 20; i++) await limiter.charge('ada')
    expect(texts.filter((text) => fix.test(text))).toHaveLength(1)
  })

  test('a server that requires a client certificate is named, with the options of the certificate', async () => {
    const url = `rediss://${clustered.host}:${clustered.port + 1}`
    const store = redisStore(connect(url, { rejectUnauthorized: false }))
    const limiter = createLimiter({ limit: 100, window: '1h', key: (id: string) => id, store })
    await until('the warning has the fix', async () => {
      forgetWarnings() // the first failures may come before the client has an error
      await limiter.charge('ada')
      return texts.some((text) => /requires a client certificate.* pass the client's tls\.cert/.test(text))
    })
  })

  test('a server whose scripts are flushed all the time decides every charge, and warns of nothing', async () => {
    const base = { store: redisStore(connect(server.url)), timeout: '30s' } as const
    const key = (id: string) => id
    const one = createLimiter({ ...base, key, name: 'one', limit: 50, window: '1h' })
    const two = createLimiter({
      ...{ ...base, name: 'two' },
      limits: [
        { name: 'a', policy: fixedWindow({ limit: 50, window: '1h' }), key },
        { name: 'b', policy: slidingWindow({ limit: 70, window: '1h' }), key },
      ],
    })
    await server.cli('FLUSHALL')
    let isOver = false
    const flushing = (async () => {
      while (!isOver) await server.cli('SCRIPT', 'FLUSH')
    })()
    const counts = { one: 0, two: 0 }
    for (let i = 0; i < 20; i++) {
      const ones = await Promise.all(Array.from({ length: 5 }, async () => one.charge('ada')))
      const [both] = await Promise.all([two.charge('ada'), two.charge('bob')])
      counts.one += ones.filter(({ allowed }) => allowed).length
      counts.two += Number(both.allowed)
      for (const { source } of [...ones, both]) expect(['store', 'deny-cache']).toContain(source)
    }
    isOver = true
    await flushing
    expect(counts).toEqual({ one: 50, two: 20 })
    expect(texts).toEqual([])
  })
})

test('the warning says what onStoreError does, once for each limiter, and a second one says that it is over', async () => {
  const store = redisStore(DRIVERS.ioredis(server.url))
  const base = { limit: 100, window: '1h', key: (id: string) => id, store, timeout: '10s' } as const
  const limiters = [
    createLimiter({ ...base, name: 'closed', onStoreError: 'deny' }),
    createLimiter({ ...base, name: 'alone', fallbackShare: 1 / 2 }),
    createLimiter({ ...base, name: 'chosen', onStoreError: () => 'allow' }),
  ]
  const chargeAll = () => Promise.all(limiters.map(async (limiter) => limiter.charge('ada')))
  await until('the store decides', async () => (await chargeAll()).every(({ source }) => source === 'store'))
  texts.length = 0
  const chargeUntilReported = async () => {
    await until('all three have warned', async () => {
      await chargeAll()
      return texts.length >= limiters.length
    })
    for (let i = 0; i < 3; i++) await chargeAll()
  }
  await config('maxmemory', '1')
  ends.push(() => config('maxmemory', '0'))
  await chargeUntilReported()
  await config('maxmemory', '0')
  expect(
    texts.map((text) => /of (the limiter \w+) .*(Requests.*\))\. Time-outs/.exec(text)?.slice(1)),
  ).toEqual([
    ['the limiter closed', "Requests that it cannot decide are denied (onStoreError: 'deny')"],
    [
      'the limiter alone',
      "Requests that it cannot decide are limited by this process alone, in its memory (onStoreError: 'local', fallbackShare: 0.5)",
    ],
    [
      'the limiter chosen',
      'Requests that it cannot decide get what onStoreError returns (onStoreError: a function)',
    ],
  ])
  texts.length = 0
  await chargeUntilReported()
  expect(texts.map((text) => text.replace(/\..*/, ''))).toEqual([
    'headgate: the store decides the requests of the limiter closed again',
    'headgate: the store decides the requests of the limiter alone again',
    'headgate: the store decides the requests of the limiter chosen again',
  ])
  for (const { events } of limiters) expect(events.listenerCount('decision')).toBe(0)
})

test.each([
  ['LOADING Redis is loading the dataset in memory', 'loading its data'],
  ['MISCONF Redis is configured to save RDB snapshots', 'cannot save'],
  ['NOREPLICAS Not enough good replicas to write.', 'min-replicas-to-write'],
  ['BUSY Redis is busy running a script.', 'SCRIPT KILL'],
  ['CLUSTERDOWN Hash slot not served', 'without a master'],
  [
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    'Connect to the master',
  ],
  ['TRYAGAIN Multiple keys request during rehashing of slot', 'is moving'],
  ['MOVED 3999 127.0.0.1:6381', 'Use a Cluster client'],
  ["CROSSSLOT Keys in request don't hash to the same slot", 'Use a Cluster client'],
  ['C0C:error:0A00010B:SSL routines:ssl3_get_record:wrong version number', 'redis:// URL'],
  ['80B:error:0A0000C6:SSL routines:tls_get_more_records:packet length too long', 'redis:// URL'],
  [
    'write EPROTO 80B:error:0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:SSL alert number 70',
    'no common version of TLS',
  ],
  ['write EPROTO 80B:error:0A000102:SSL routines::unsupported protocol', 'no common version of TLS'],
  [
    '80B:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:SSL alert number 116',
    'tls.cert and tls.key',
  ],
])('the fix of %j says %j', (message, fix) => {
  expect(hintFor(message)).toContain(fix)
})

test('a TLS client whose connection is reset is not told to use TLS', () => {
  expect(hintFor('read ECONNRESET')).toContain('rediss://')
  expect(hintFor('read ECONNRESET', true)).toContain('tls.cert and tls.key')
})

test.each([
  'write EPROTO 80B:error:0A000410:SSL routines:ssl3_read_bytes:sslv3 alert handshake failure:SSL alert number 40',
  '80B:error:0A000412:SSL routines:ssl3_read_bytes:sslv3 alert bad certificate:SSL alert number 42',
  'write EPROTO',
  'ERR_SSL_NO_SHARED_CIPHER',
])('no fix is named for %j, which has several causes', (message) => {
  expect(hintFor(message)).toBeUndefined()
})
