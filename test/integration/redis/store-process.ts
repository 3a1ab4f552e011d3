import { redisStore } from 'headgate/redis'
import { serveStore } from 'headgate/testing'
import { Redis } from 'ioredis'

const client = new Redis(process.argv[2] as string, { autoResendUnfulfilledCommands: false })
await client.ping()
await serveStore(redisStore(client))
client.disconnect()
