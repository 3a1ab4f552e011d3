/**
 * The store for memcached.
 *
 * @module
 */

export { memcachedStore } from './stores/memcached/memcached-store.js'
