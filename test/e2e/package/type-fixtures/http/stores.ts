// The store entries where no driver is installed: they describe the few methods that they need.
import { rateLimit, type Store } from 'headgate/http'
import { memcachedStore } from 'headgate/memcached'
import { mysqlStore } from 'headgate/mysql'
import { postgresStore } from 'headgate/postgres'
import { redisStore } from 'headgate/redis'

export function limiters(
  redis: Parameters<typeof redisStore>[0],
  memcached: Parameters<typeof memcachedStore>[0],
  mysql: Parameters<typeof mysqlStore>[0],
  postgres: Parameters<typeof postgresStore>[0],
) {
  const stores: Store[] = [
    redisStore(redis),
    memcachedStore(memcached),
    mysqlStore(mysql),
    postgresStore(postgres),
  ]
  return stores.map((store) => rateLimit({ limit: 2, window: '1h', store }))
}
