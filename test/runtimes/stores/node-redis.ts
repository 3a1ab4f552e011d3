import { redisStore } from 'headgate/redis'
import { createClient } from 'redis'

const client = createClient({ url: process.env.REDIS_URL as string })
await client.connect()

export const store = redisStore(client)
