export { memcachedStore } from './stores/memcached/memcached-store.js'
