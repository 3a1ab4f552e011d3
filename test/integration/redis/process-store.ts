import { createRequire } from 'node:module'
import type { Store } from 'headgate'
import { type CommandWords, customRedisStore, redisStore } from 'headgate/redis'

/** A store over a connected client. */
interface ProcessStore {
  readonly store: Store
  end(): void
}

/**
 * Connects a client of a driver, and loads no other. The driver of Valkey GLIDE is the path of its module. A
 * Cluster is found by the URL of one node.
 */
export async function openStore(url: string, driver: string): Promise<ProcessStore> {
  if (driver === 'ioredis 6' || driver === 'text') {
    const { Redis } = await import('ioredis')
    const client = new Redis(url, { autoResendUnfulfilledCommands: false })
    await client.ping()
    const send = (commands: readonly CommandWords[]) => commands.map((words) => client.call(...words))
    const store = driver === 'text' ? customRedisStore({ send }) : redisStore(client)
    return { store, end: () => client.disconnect() }
  }
  if (driver === 'ioredis Cluster') {
    const { Cluster } = await import('ioredis')
    const client = new Cluster([url], { retryDelayOnFailover: 0 })
    await client.ping()
    return { store: redisStore(client), end: () => client.disconnect() }
  }
  if (driver === 'Bun') {
    const client = new (globalThis as unknown as WithBun).Bun.RedisClient(url)
    return { store: redisStore(client), end: () => client.close() }
  }
  if (driver.endsWith('valkey-glide')) {
    const { GlideClient, Logger } = createRequire(driver)(driver)
    Logger.init('off')
    const { hostname: host, port } = new URL(url)
    const addresses = [{ host, port: Number(port) }]
    const client = await GlideClient.createClient({ addresses, requestTimeout: 5000 })
    return { store: redisStore(client), end: () => client.close() }
  }
  const client =
    driver === 'redis 6'
      ? (await import('redis')).createClient({ url })
      : (await import('redis5')).createClient({ url })
  client.on('error', console.error)
  await client.connect()
  return { store: redisStore(client), end: () => client.destroy() }
}

interface WithBun {
  readonly Bun: {
    readonly RedisClient: new (url: string) => Parameters<typeof redisStore>[0] & { close(): void }
  }
}
