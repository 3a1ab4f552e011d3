import { redisStore } from 'headgate/redis'
import { Redis } from 'ioredis'
import { outageReporter } from './outage-reporter.js'
import type { DemoStore } from './store.js'

export function storeInRedis(url: string): DemoStore {
  const client = new Redis(url, {
    autoResendUnfulfilledCommands: false, // a charge that is sent again would count twice
  })
  const { reportDown, reportBack } = outageReporter('REDIS_URL', 'Redis')
  client.on('error', ({ message, code }: NodeJS.ErrnoException) => reportDown(message || `${code}`))
  client.on('ready', reportBack)
  return {
    store: redisStore(client),
    where: 'in Redis, shared by all demos with the same REDIS_URL',
    close: () => client.disconnect(), // the demo's own client, so the demo closes it
  }
}
