import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fixedWindow } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import {
  allowedCount,
  keyedPolicies,
  part,
  remainingOf,
} from '../../../src/testing/conformance/store-calls.js'
import { findOrInstall, INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type RedisServer, startRedisNode } from '../../support/servers/redis-node.js'
import { chargeStore, forgetStore, refundStore } from '../../support/store-calls.js'
import { connect } from './connect.js'
import { NODE_REDIS, nodeRedisConnections } from './node-redis.js'
import { failureOf } from './outcomes.js'

const policy = fixedWindow({ limit: 5, window: LONG })

/** A certificate that signs itself, for the server, and for clients as well. */
interface Certificate {
  readonly folder: string
  readonly cert: string
  readonly key: string
}

let certificate: Certificate
let server: RedisServer
const clients: (Redis | Redis5)[] = []

beforeAll(async () => {
  certificate = await makeCertificate()
  const { cert, key } = certificate
  const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert]
  // Beside the plain port, which the tests start and stop it by.
  server = await startRedisNode('redis-tls', ({ port }) => ['--tls-port', String(port + 1), ...files], [1])
}, INSTALL_TIMEOUT_MS)

afterAll(async () => {
  await server?.stop()
  if (certificate) await rm(certificate.folder, { recursive: true })
})

beforeEach(() => server.cli('FLUSHALL'))

afterEach(() => {
  for (const client of clients.splice(0)) if (client.status !== 'end') client.disconnect()
})

async function makeCertificate(): Promise<Certificate> {
  const openssl = await findOrInstall({ program: 'openssl', debianPackage: 'openssl' })
  const folder = await mkdtemp(join(tmpdir(), 'headgate-certificate-'))
  const made = { folder, cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=headgate'
  const more = ['-addext', 'subjectAltName=IP:127.0.0.1', '-out', made.cert, '-keyout', made.key]
  await promisify(execFile)(openssl, [...words.split(' '), ...more])
  return made
}

const url = () => `rediss://${server.host}:${server.port + 1}`

/** What a client says who trusts the server, and whom the server trusts. */
async function trustedTls(): Promise<Required<TlsOptions['tls']>> {
  const [cert, key] = await Promise.all([readFile(certificate.cert), readFile(certificate.key)])
  return { ca: cert, cert, key }
}

function open<T extends Redis | Redis5>(client: T): T {
  client.on('error', () => undefined)
  clients.push(client)
  return client
}

interface TlsOptions {
  readonly tls: { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer }
  readonly retryStrategy?: () => null
}

const QUIET = { autoResendUnfulfilledCommands: false, disconnectTimeout: 100 }
const MAKERS = [
  ['ioredis 6', (options: TlsOptions) => new Redis(url(), { ...QUIET, ...options })],
  ['ioredis 5', (options: TlsOptions) => new Redis5(url(), { ...QUIET, ...options })],
] as const

describe.each(MAKERS)('over TLS with a client of %s', (_, make) => {
  test('charges, refunds and forgetting work, and share limits with those over a plain connection', async () => {
    const tls = await trustedTls()
    const encrypted = open(make({ tls }))
    const store = redisStore(encrypted)
    const plain = redisStore(open(await connect(server.url)))
    const calls = Array.from({ length: 100 }, (_each, i) => {
      return chargeStore(i % 2 === 0 ? store : plain, [[part('key', policy)]])
    })
    const verdicts = (await Promise.all(calls)).flat()
    expect(allowedCount(verdicts)).toBe(5)
    expect(encrypted.stream).toMatchObject({ encrypted: true, authorized: true })
    await refundStore(store, [{ ...part('key', policy, 2), takenAtMs: verdicts[0]?.atMs ?? 0 }])
    expect(await remainingOf(plain, policy, ['key'])).toEqual([2])
    await forgetStore(store, keyedPolicies(policy, 'key'))
    expect(await remainingOf(plain, policy, ['key'])).toEqual([5])
  })

  test.each<[string, (tls: Required<TlsOptions['tls']>) => TlsOptions['tls']]>([
    ['does not trust the server', ({ cert, key }) => ({ cert, key })],
    ['is not trusted by the server', ({ ca }) => ({ ca })],
  ])('a client that %s fails charges', async (_who, tlsOf) => {
    const tls = tlsOf(await trustedTls())
    const client = open(make({ tls, retryStrategy: () => null }))
    const store = redisStore(client)
    await failureOf(chargeStore(store, [[part('key', policy)]]))
    expect((await failureOf(chargeStore(store, [[part('key', policy)]]))).message).toContain('not connected')
    expect(await server.cli('DBSIZE')).toBe('0')
  })
})

describe.each(NODE_REDIS)('over TLS with a client of %s', (_, make) => {
  const { create, endAll } = nodeRedisConnections(() => Object.assign({}, server, { url: url() }), make)
  afterEach(endAll)

  test('charges work, and share limits with those over a plain connection', async () => {
    const { client, store } = create({ socket: { tls: true, ...(await trustedTls()) } })
    await client.connect()
    const plain = redisStore(open(await connect(server.url)))
    const calls = Array.from({ length: 100 }, (_each, i) =>
      chargeStore(i % 2 === 0 ? store : plain, [[part('key', policy)]]),
    )
    expect(allowedCount((await Promise.all(calls)).flat())).toBe(5)
    await forgetStore(store, keyedPolicies(policy, 'key'))
    expect(await remainingOf(plain, policy, ['key'])).toEqual([5])
  })

  test('a client that does not trust the server fails charges', async () => {
    const { cert, key } = await trustedTls()
    const { client, store } = create({ socket: { tls: true, cert, key, reconnectStrategy: false } })
    const connecting = client.connect().catch((error: Error) => error.message)
    await failureOf(chargeStore(store, [[part('key', policy)]]))
    expect(await connecting).toContain('self-signed certificate')
    expect((await failureOf(chargeStore(store, [[part('key', policy)]]))).message).toContain('not connected')
    expect(await server.cli('DBSIZE')).toBe('0')
  })
})
