export type { RedisClient, RedisClusterClient, RedisPipeline } from './stores/redis/ioredis/client.js'
export type {
  NodeRedisClient,
  NodeRedisClusterClient,
  NodeRedisCommandOptions,
  NodeRedisSentinelClient,
} from './stores/redis/node-redis/client.js'
export { redisStore } from './stores/redis/redis-store.js'
