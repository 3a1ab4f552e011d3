export type { RedisClient, RedisClusterClient, RedisPipeline } from './stores/redis/client.js'
export { redisStore } from './stores/redis/redis-store.js'
