import type { Store } from 'headgate'
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { createSentinel } from 'redis'
import { createSentinel as createSentinel5 } from 'redis5'
import type { RedisSentinel } from '../../support/servers/redis-sentinel.js'

/** A client of the master of a Sentinel group, and a store over it. */
export interface SentinelClient {
  readonly store: Store
  /** Calls `listener` when the connection to the master is lost. */
  onLoss(listener: () => void): void
  end(): unknown
}

const addressesOf = ({ sentinels }: RedisSentinel) => sentinels.map(({ host, port }) => ({ host, port }))

async function openIoredis(group: RedisSentinel): Promise<SentinelClient> {
  const sentinels = addressesOf(group)
  const client = new Redis({ sentinels, name: group.name, autoResendUnfulfilledCommands: false })
  client.on('error', () => undefined) // while there is no master, connecting fails
  return {
    store: redisStore(client),
    onLoss: (listener) => client.once('close', listener),
    end: () => client.disconnect(),
  }
}

/** With the errors of its connections, by which a test sees a loss. */
const optionsOf = (group: RedisSentinel) => ({
  name: group.name,
  sentinelRootNodes: addressesOf(group),
  passthroughClientErrorEvents: true,
})

/** What both versions have. Their own types take the compiler many seconds to compare. */
type NodeRedisSentinel = Parameters<typeof redisStore>[0] & {
  on(event: 'error', listener: (error: Error) => void): unknown
  once(event: 'error', listener: (error: Error) => void): unknown
  connect(): Promise<unknown>
  destroy(): void
}

async function opened(client: NodeRedisSentinel): Promise<SentinelClient> {
  client.on('error', () => undefined)
  await client.connect()
  return {
    store: redisStore(client),
    onLoss: (listener) => client.once('error', listener),
    end: () => client.destroy(),
  }
}

const openNodeRedis = (group: RedisSentinel) => opened(createSentinel(optionsOf(group)))
const openNodeRedis5 = (group: RedisSentinel) => opened(createSentinel5(optionsOf(group)))

/** Opens a driver's client of a Sentinel group. */
type SentinelDriver = (group: RedisSentinel) => Promise<SentinelClient>

export const SENTINEL_DRIVERS = {
  'ioredis 6': openIoredis,
  'redis 6': openNodeRedis,
  'redis 5': openNodeRedis5,
} as const satisfies Readonly<Record<string, SentinelDriver>>
