import { callAsAsked } from './callers.js'
import { REDIS_STORES } from './contenders/redis-stores.js'

await callAsAsked(REDIS_STORES)
