import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLimiter } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { hintFor } from '../../../src/stores/redis/hints.js'
import { forgetWarnings } from '../../../src/util/warn-once.js'
import { makeCertificate } from '../../support/certificate.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedis } from '../../support/servers/redis.js'
import { startRedisNode } from '../../support/servers/redis-node.js'
import { until } from '../../support/servers/wait.js'

let server: RedisServer
let renamed: RedisServer
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
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  await Promise.all([server?.stop(), renamed?.stop()])
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
  ioredis(url: string) {
    const client = new Redis(url, { autoResendUnfulfilledCommands: false, retryStrategy: () => 20 })
    client.on('error', () => undefined)
    ends.push(() => client.disconnect())
    return client
  },
  'node-redis'(url: string) {
    const client = createClient({ url, socket: { reconnectStrategy: () => 20 } })
    client.on('error', () => undefined)
    client.connect().catch(() => undefined)
    ends.push(() => client.destroy())
    return client
  },
} as const

const config = async (...words: readonly string[]) => {
  await server.cli('CONFIG', 'SET', ...words)
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
    /NOAUTH .*\. Give the client a password/,
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
      expect(text).toContain("Requests that it cannot decide pass without any limit (onStoreError: 'allow')")
      expect(text).toContain('Time-outs are reported once, and so are other errors.')
    },
  )
})

test('the warning says what onStoreError does, once for each limiter, and a second one says that it is over', async () => {
  const store = redisStore(DRIVERS.ioredis(server.url))
  const base = { limit: 100, window: '1h', key: (id: string) => id, store, timeout: '10s' } as const
  const limiters = [
    createLimiter({ ...base, name: 'closed', onStoreError: 'deny' }),
    createLimiter({ ...base, name: 'alone', onStoreError: 'local' }),
    createLimiter({ ...base, name: 'chosen', onStoreError: () => 'allow' }),
  ]
  const chargeAll = () => Promise.all(limiters.map(async (limiter) => limiter.charge('ada')))
  await chargeAll()
  await config('maxmemory', '1')
  for (let i = 0; i < 3; i++) await chargeAll()
  await config('maxmemory', '0')
  expect(
    texts.map((text) => /of (the limiter \w+) .*(Requests.*\))\. Time-outs/.exec(text)?.slice(1)),
  ).toEqual([
    ['the limiter closed', "Requests that it cannot decide are denied (onStoreError: 'deny')"],
    [
      'the limiter alone',
      "Requests that it cannot decide are limited by this process alone, in its memory (onStoreError: 'local')",
    ],
    [
      'the limiter chosen',
      'Requests that it cannot decide get what onStoreError returns (onStoreError: a function)',
    ],
  ])
  texts.length = 0
  for (let i = 0; i < 3; i++) await chargeAll()
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

test.each([
  'write EPROTO 80B:error:0A000410:SSL routines:ssl3_read_bytes:sslv3 alert handshake failure:SSL alert number 40',
  '80B:error:0A000412:SSL routines:ssl3_read_bytes:sslv3 alert bad certificate:SSL alert number 42',
  'write EPROTO',
  'ERR_SSL_NO_SHARED_CIPHER',
])('no fix is named for %j, which has several causes', (message) => {
  expect(hintFor(message)).toBeUndefined()
})
