import { callAsAsked } from './callers.js'
import { MEMCACHED_GATED, MEMCACHED_STORES } from './contenders/memcached-stores.js'

await callAsAsked({ ...MEMCACHED_STORES, ...MEMCACHED_GATED })
