// The store entries where no driver is installed: they describe the few methods that they need.
import { rateLimit, type Store } from 'headgate/http'
import { type MemcachedClient, memcachedStore } from 'headgate/memcached'
import { type MysqlPool, mysqlStore } from 'headgate/mysql'
import { type PostgresPool, postgresStore } from 'headgate/postgres'
import { type RedisClient, type RedisClusterClient, redisStore } from 'headgate/redis'

export function limiters(
  redis: RedisClient | RedisClusterClient,
  memcached: MemcachedClient,
  mysql: MysqlPool,
  postgres: PostgresPool,
) {
  const stores: Store[] = [
    redisStore(redis),
    memcachedStore(memcached),
    mysqlStore(mysql),
    postgresStore(postgres),
  ]
  return stores.map((store) => rateLimit({ limit: 2, window: '1h', store }))
}
