import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'

export const store = redisStore(new Redis(process.env.REDIS_URL as string))
