import { explainTimeouts } from '../../pipe/client-notes.js'
import { wrongKind } from '../../util/validate.js'
import { type BunRedisClient, bunTransport, isBunRedis } from './bun-client.js'
import { whyConnecting } from './connecting.js'
import { type GlideRedisClient, glideTransport, isGlide } from './glide-client.js'
import {
  isIoredis,
  isIoredisCluster,
  type RedisClient,
  type RedisClusterClient,
  warnOfResends,
} from './ioredis/client.js'
import { ioredisClusterTransport } from './ioredis/cluster-transport.js'
import { ioredisTransport } from './ioredis/server-transport.js'
import {
  isNodeRedis,
  isNodeRedisCluster,
  isNodeRedisSentinel,
  type NodeRedisClient,
  type NodeRedisClusterClient,
  type NodeRedisSentinelClient,
} from './node-redis/client.js'
import { nodeRedisClusterTransport } from './node-redis/cluster-transport.js'
import { nodeRedisSentinelTransport } from './node-redis/sentinel-transport.js'
import { nodeRedisTransport } from './node-redis/server-transport.js'
import type { Transport } from './transport.js'

/**
 * A client of ioredis, iovalkey, node-redis, Valkey GLIDE or Bun.
 * @inline
 */
export type AnyRedisClient =
  | RedisClient
  | RedisClusterClient
  | NodeRedisClient
  | NodeRedisSentinelClient
  | NodeRedisClusterClient
  | GlideRedisClient
  | BunRedisClient

/**
 * Creates the transport through a client, which is recognized by its methods: a project may have several
 * copies of a driver. Throws a `TypeError` for a value that lacks what the store needs.
 */
export function transportOf(client: unknown): Transport {
  const transport = recognize(client)
  explainTimeouts(client as AnyRedisClient, () => whyConnecting(client as AnyRedisClient))
  return transport
}

function recognize(client: unknown): Transport {
  if (isIoredis(client)) {
    warnOfResends(client)
    return isIoredisCluster(client) ? ioredisClusterTransport(client) : ioredisTransport(client)
  }
  if (isNodeRedisCluster(client)) return nodeRedisClusterTransport(client)
  if (isNodeRedisSentinel(client)) return nodeRedisSentinelTransport(client)
  if (isNodeRedis(client)) return nodeRedisTransport(client)
  if (isGlide(client)) return glideTransport(client)
  if (isBunRedis(client)) return bunTransport(client)
  const must = 'a client of ioredis, of redis 5 or later (not a pool), of Valkey GLIDE, or of Bun'
  const fix =
    'Write redisStore(new Redis(url)) for ioredis, or redisStore(createClient({ url })) for redis. ' +
    'For any other client, write customRedisStore({ send }).'
  throw wrongKind('redisStore', 'client', must, client, fix)
}
