/**
 * The store for Upstash Redis.
 *
 * @module
 */

export type { UpstashRedisClient } from './stores/redis/upstash/client.js'
export { type UpstashStoreOptions, upstashStore } from './stores/redis/upstash/upstash-store.js'
