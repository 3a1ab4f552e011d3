export { redisStore } from './stores/redis/redis-store.js'
