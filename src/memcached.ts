export type { MemcachedClient, MemcachedReply, MemcachedServer } from './stores/memcached/client.js'
export { memcachedStore } from './stores/memcached/memcached-store.js'
