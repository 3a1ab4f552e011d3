export type { DenialReason } from './answers/denial.js'
export type { ResetFormat } from './answers/headers.js'
export type { HeaderStyle } from './answers/respond.js'
export type { Decision, DecisionSource, PartDecision } from './decision.js'
export type { Duration } from './durations.js'
export { StoreError } from './errors.js'
export type { Health } from './health.js'
export { type ByFieldOptions, byField } from './keys/by-field.js'
export { byHeader } from './keys/by-header.js'
export { type ByIpOptions, byIp } from './keys/by-ip.js'
export { byRoute } from './keys/by-route.js'
export { type ByUserOptions, byUser } from './keys/by-user.js'
export type { KeyFunction, KeyValue } from './keys/key.js'
export type { TrustProxy } from './keys/source-address.js'
export { createLimiter, type Limiter } from './limiter.js'
export type { MaybePromise } from './maybe-promise.js'
export type { Count, Next, RateLimitOptions } from './middleware-options.js'
export type { LimiterEvents } from './observe/events.js'
export type { LimiterOptions, LimitOptions, StoreErrorChoice } from './options.js'
export { type BanOptions, ban } from './policies/ban.js'
export { type ConsecutiveOptions, consecutive } from './policies/consecutive.js'
export { type FixedWindowOptions, fixedWindow } from './policies/fixed-window.js'
export type { Policy, State, Step } from './policies/policy.js'
export { type SlidingWindowOptions, slidingWindow } from './policies/sliding-window.js'
export { type TokenBucketOptions, tokenBucket } from './policies/token-bucket.js'
export { type RateLimited, type RateLimitMiddleware, rateLimit } from './rate-limit.js'
export type { BreakerState } from './stores/breaker.js'
export type { MemcachedClient, MemcachedReply, MemcachedServer } from './stores/memcached/memcached-client.js'
export { memcachedStore } from './stores/memcached/memcached-store.js'
export { type MemoryStore, type MemoryStoreOptions, memoryStore } from './stores/memory-store.js'
export type {
  MysqlCallbackPool,
  MysqlConnection,
  MysqlPool,
  MysqlQuery,
} from './stores/mysql/mysql-client.js'
export { mysqlSchema } from './stores/mysql/mysql-schema.js'
export { type MysqlStoreOptions, mysqlStore } from './stores/mysql/mysql-store.js'
export type {
  PostgresConnection,
  PostgresPool,
  PostgresQuery,
} from './stores/postgres/postgres-client.js'
export { postgresSchema } from './stores/postgres/postgres-schema.js'
export { type PostgresStoreOptions, postgresStore } from './stores/postgres/postgres-store.js'
export type { RedisClient, RedisClusterClient, RedisPipeline } from './stores/redis/redis-client.js'
export { redisStore } from './stores/redis/redis-store.js'
export type { SqlStore } from './stores/sql/sql-store.js'
export type { Charge, Held, Part, PartVerdict, Refund, Store, Verdict } from './stores/store.js'
