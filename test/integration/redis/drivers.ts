import type { Store } from 'headgate'
import { customRedisStore, redisStore } from 'headgate/redis'
import { Redis as Iovalkey } from 'iovalkey'
import { createClient } from 'redis'
import { createClient as createClient5 } from 'redis5'
import { connect } from './connect.js'

/** A connected client of some driver, and how to make stores over it. */
export interface Opened {
  makeStore(): Store
  /** Whether the client takes commands. */
  isReady(): boolean
  end(): unknown
}

async function openIoredis(url: string): Promise<Opened> {
  const client = await connect(url, { retryStrategy: () => 20 })
  return {
    makeStore: () => redisStore(client),
    isReady: () => client.status === 'ready',
    end: () => client.disconnect(),
  }
}

/** The tests do not wait long for a server that comes back. */
const socket = { reconnectStrategy: () => 20 }

async function openNodeRedis(url: string): Promise<Opened> {
  const client = createClient({ url, socket })
  client.on('error', () => undefined) // while a server is down, connecting fails
  await client.connect()
  return { makeStore: () => redisStore(client), isReady: () => client.isReady, end: () => client.destroy() }
}

async function openNodeRedis5(url: string): Promise<Opened> {
  const client = createClient5({ url, socket })
  client.on('error', () => undefined)
  await client.connect()
  return { makeStore: () => redisStore(client), isReady: () => client.isReady, end: () => client.destroy() }
}

async function openIovalkey(url: string): Promise<Opened> {
  const client = new Iovalkey(url, { autoResendUnfulfilledCommands: false })
  await client.ping()
  return {
    makeStore: () => redisStore(client),
    isReady: () => client.status === 'ready',
    end: () => client.disconnect(),
  }
}

/** A client of whose replies only the text arrives. */
async function openText(url: string): Promise<Opened> {
  const client = await connect(url, { retryStrategy: () => 20 })
  return {
    makeStore: () => customRedisStore({ send: (commands) => commands.map((words) => client.call(...words)) }),
    isReady: () => client.status === 'ready',
    end: () => client.disconnect(),
  }
}

/** Connects a client to a server. */
export type Open = (url: string) => Promise<Opened>

/** The drivers whose clients the store takes; tests look on with one of ioredis. */
export const DRIVERS = {
  'ioredis 6': openIoredis,
  'redis 6': openNodeRedis,
  'redis 5': openNodeRedis5,
  iovalkey: openIovalkey,
  text: openText,
} as const satisfies Readonly<Record<string, Open>>

export const ALL_DRIVERS = Object.entries<Open>(DRIVERS).filter(
  ([name]) => name !== 'iovalkey' && name !== 'text',
)

/** Opens a client for the tests of a describe block. */
export function openedStore(url: () => string, open: Open): Opened {
  let opened: Opened
  beforeAll(async () => {
    opened = await open(url())
  })
  afterAll(() => opened?.end())
  return {
    makeStore: () => opened.makeStore(),
    isReady: () => opened.isReady(),
    end: () => opened.end(),
  }
}
