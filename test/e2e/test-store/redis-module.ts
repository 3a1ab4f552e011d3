/** The module that a user would write: its default export is the store to test. */
import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'

const port = Number(process.env.REDIS_PORT)

export default async () => redisStore(new Redis(port, { autoResendUnfulfilledCommands: false }))
