import { callAsAsked } from './callers.js'
import { LONE_OPERATIONS } from './contenders/lone-operations.js'
import { REDIS_STORES, TWO_REDIS_LIMITS } from './contenders/redis-stores.js'

await callAsAsked({ ...REDIS_STORES, ...TWO_REDIS_LIMITS, ...LONE_OPERATIONS })
