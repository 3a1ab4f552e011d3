import { Cluster, Redis } from 'ioredis'
import { Redis as Valkey } from 'iovalkey'
import { Client } from 'memjs'
import { createPool } from 'mysql2'
import { Pool } from 'pg'
import { createClient } from 'redis'
import { serverNameOf } from '../../../../src/dashboard/board/server-name.js'

const lazy = { lazyConnect: true }
const clients: { readonly [name: string]: object } = {
  'ioredis by URL': new Redis('redis://ada:secret@10.0.0.7:6380/2', lazy),
  'ioredis by host': new Redis({ host: 'redis.example', password: 'secret', ...lazy }),
  'ioredis by host in IPv6': new Redis({ host: '2001:db8::7', ...lazy }),
  'ioredis on a socket': new Redis('/run/redis.sock', lazy),
  'ioredis with Sentinel': new Redis({ sentinels: [{ host: '10.0.0.8', port: 26379 }], name: 'm', ...lazy }),
  'ioredis on a Cluster': new Cluster([{ host: '10.0.0.7', port: 7000 }], lazy),
  iovalkey: new Valkey('redis://:secret@10.0.0.7:6381', lazy),
  'node-redis by URL': createClient({ url: 'redis://ada:secret@10.0.0.7:6380' }),
  'node-redis on a socket': createClient({ socket: { path: '/run/redis.sock', tls: false } }),
  'node-redis by default': createClient(),
  'pg by URL': new Pool({ connectionString: 'postgres://ada:secret@db.example:5433/limits' }),
  'pg by a URL without a port': new Pool({ connectionString: 'postgres://ada:secret@db.example/limits' }),
  'pg by what is no URL': new Pool({ connectionString: 'host=db.example password=secret' }),
  'pg by host': new Pool({ host: 'db.example', password: 'secret' }),
  mysql2: createPool('mysql://ada:secret@db.example:3307/limits'),
  memjs: Client.create('ada:secret@10.0.0.9:11211'),
  'memjs with two servers': Client.create('10.0.0.9:11211,10.0.0.10:11211'),
  'a host with a password': { options: { host: 'ada:secret@10.0.0.7', port: 6379 } },
  'a host that would turn a text': { options: { host: 'a\u202eb\n', port: 1 } },
  'a very long host': { options: { host: 'a'.repeat(1000) } },
  'a getter that throws': {
    get options() {
      throw new Error('secret')
    },
  },
  'a client of another kind': {},
}

test('a store with one server is named by the host and port of its client, never with a password', () => {
  const names = Object.entries(clients).map(([name, client]) => [name, serverNameOf({ origin: { client } })])
  expect(Object.fromEntries(names)).toEqual({
    'ioredis by URL': '10.0.0.7:6380',
    'ioredis by host': 'redis.example:6379',
    'ioredis by host in IPv6': '[2001:db8::7]:6379',
    'ioredis on a socket': '/run/redis.sock',
    iovalkey: '10.0.0.7:6381',
    'node-redis by URL': '10.0.0.7:6380',
    'node-redis on a socket': '/run/redis.sock',
    'pg by URL': 'db.example:5433',
    'pg by a URL without a port': 'db.example',
    'pg by host': 'db.example',
    mysql2: 'db.example:3307',
    memjs: '10.0.0.9:11211',
    'a host that would turn a text': 'a\\u202eb\\u000a:1',
  })
})

test('a store that knows its servers is not named by one of them', () => {
  const client = { options: { host: '10.0.0.7', port: 6379 } }
  expect(serverNameOf({ origin: { client }, serverOf: () => undefined })).toBeUndefined()
  expect(serverNameOf({})).toBeUndefined()
})
