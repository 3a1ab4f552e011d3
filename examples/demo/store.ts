import { memoryStore, redisStore, type Store } from 'headgate'
import { Redis } from 'ioredis'

export interface DemoStore {
  readonly store: Store
  /** Where the limits live, as the demo tells it. */
  readonly where: string
  /** Closes what was opened for the store. */
  close(): void
}

/** The one place where the demo's store is made: in Redis where a URL is given, else in this process's memory. */
export function demoStore(redisUrl: string | undefined): DemoStore {
  if (redisUrl === undefined) {
    return { store: memoryStore(), where: 'in this process', close: () => undefined }
  }
  const client = new Redis(redisUrl, {
    autoResendUnfulfilledCommands: false, // a charge that is sent again counts twice
  })
  tellWhenAway(client)
  return {
    store: redisStore(client),
    where: 'in Redis, shared by all demos with the same REDIS_URL',
    close: () => client.disconnect(), // the demo's own client, so the demo closes it
  }
}

/** Tells once that Redis is away, though the client tries again and again, and once that it is back. */
function tellWhenAway(client: Redis): void {
  let isAway = false
  client.on('error', ({ message, code }: NodeJS.ErrnoException) => {
    if (isAway) return
    isAway = true
    console.error(
      `REDIS_URL: Redis cannot be asked (${message || code}). Until it can, every request is let through.`,
    )
  })
  client.on('ready', () => {
    if (isAway) console.error('Redis answers again.')
    isAway = false
  })
}
