import { fixedWindow } from 'headgate'
import { memcachedStore } from 'headgate/memcached'
import Memcached from 'memcached'
import { Client, Server } from 'memjs'
import type { MemcachedClient } from '../../../src/stores/memcached/client.js'
import { LONG } from '../../../src/testing/conformance/sample-policies.js'
import { part, remainingOf } from '../../../src/testing/conformance/store-calls.js'
import { INSTALL_TIMEOUT_MS } from '../../support/servers/install.js'
import { type MemcachedServer, startMemcached } from '../../support/servers/memcached.js'
import { chargeStore } from '../../support/store-calls.js'
import { connections } from './clients.js'
import { failureOf } from './failures.js'

const { open, closeAll } = connections()

afterAll(closeAll)

const call = () => undefined
const whole = { seq: 0, servers: [], incrSeq: call, server: call, stats: call }

test.each<[string, unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['a number', 11211],
  ['an address', '127.0.0.1:11211'],
  ['a URL', new URL('memcached://127.0.0.1:11211')],
  ['options', { host: '127.0.0.1', port: 11211 }],
  ['an empty object', {}],
  ['an array', []],
  ['the class', Client],
  ['one of its servers', new Server('127.0.0.1', 11211)],
  ['a promise of a client', Promise.resolve(whole)],
  ['a client of another kind', { get: call, set: call, incr: call, cas: call, servers: ['127.0.0.1:11211'] }],
  ...Object.keys(whole).map((name): [string, unknown] => [
    `one without ${name}`,
    { ...whole, [name]: undefined },
  ]),
])('%s instead of a client is a TypeError with the fix', (_, wrong) => {
  expect(() => memcachedStore(wrong as MemcachedClient)).toThrow(TypeError)
  expect(() => memcachedStore(wrong as MemcachedClient)).toThrow(
    /memcachedStore: client must be a memjs client, got .*\. Write memcachedStore\(Client\.create\('127\.0\.0\.1:11211'\)\)/,
  )
})

test('a client of the package memcached is a TypeError that names memjs', () => {
  const client = new Memcached('127.0.0.1:11211')
  expect(() => memcachedStore(client as unknown as MemcachedClient)).toThrow(
    new TypeError(
      'memcachedStore: client must be a memjs client, got an object. The package memcached is not supported: ' +
        "install memjs, and write memcachedStore(Client.create('127.0.0.1:11211')).",
    ),
  )
  client.end()
})

test('a memjs client is not taken for one of the package memcached, even when it lacks something', () => {
  const client = Object.assign(Client.create('127.0.0.1:11211'), { stats: undefined })
  expect(() => memcachedStore(client as unknown as MemcachedClient)).toThrow(
    "memcachedStore: client must be a memjs client, got an object. Write memcachedStore(Client.create('127.0.0.1:11211')).",
  )
})

describe('a memcached client', () => {
  let server: MemcachedServer

  beforeAll(async () => {
    server = await startMemcached()
  }, INSTALL_TIMEOUT_MS)

  afterAll(() => server?.stop())

  test.each<[string, () => number]>([
    ['throws', () => JSON.parse('no node')],
    ['names no server', () => 7],
  ])('whose own getServer %s fails the charge', async (_, getServer) => {
    const client = open(`${server.url},127.0.0.1:1`) // memjs asks it where there are several
    Object.assign(client, { getServer })
    const charge = chargeStore(memcachedStore(client), [
      [part('key', fixedWindow({ limit: 5, window: LONG }))],
    ])
    expect((await failureOf(charge)).message).toContain('no server is available')
  })

  test('may be used by the store and by others at the same time, and no replies are mixed up', async () => {
    const client = open(server.url)
    const store = memcachedStore(client)
    const policy = fixedWindow({ limit: 1000, window: LONG })
    const key = `shared-${process.pid}-${Date.now()}`
    const both = Array.from({ length: 300 }, async (_, i) => {
      await client.set(`${key}-${i}`, `value ${i}`, { expires: 60 })
      const [[verdict], { value }] = await Promise.all([
        chargeStore(store, [[part(key, policy)]]),
        client.get(`${key}-${i}`),
      ])
      return [verdict?.allowed, value?.toString()]
    })
    expect(await Promise.all(both)).toEqual(Array.from({ length: 300 }, (_, i) => [true, `value ${i}`]))
    expect(await remainingOf(store, policy, [key])).toEqual([700])
    await store.close?.()
    expect((await client.get(`${key}-0`)).value?.toString()).toBe('value 0')
  })
})
