/**
 * The store for Redis and Valkey.
 *
 * @module
 */

export type { CommandWords } from './stores/redis/command-transport.js'
export { type CustomRedisStoreOptions, customRedisStore } from './stores/redis/custom-redis-store.js'
export { redisStore } from './stores/redis/redis-store.js'
