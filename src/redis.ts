/**
 * The store for Redis and Valkey.
 *
 * @module
 */

export { redisStore } from './stores/redis/redis-store.js'
