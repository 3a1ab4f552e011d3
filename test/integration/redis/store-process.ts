import { type CommandWords, customRedisStore, redisStore } from 'headgate/redis'
import { serveStore } from 'headgate/testing'

// Arguments: the server's address and a driver. Only that driver is loaded.
const [url = '', driver] = process.argv.slice(2)

async function connect() {
  if (driver === 'ioredis 6' || driver === 'text') {
    const { Redis } = await import('ioredis')
    const client = new Redis(url, { autoResendUnfulfilledCommands: false })
    await client.ping()
    const send = (commands: readonly CommandWords[]) => commands.map((words) => client.call(...words))
    const store = driver === 'text' ? customRedisStore({ send }) : redisStore(client)
    return { store, end: () => client.disconnect() }
  }
  const client =
    driver === 'redis 6'
      ? (await import('redis')).createClient({ url })
      : (await import('redis5')).createClient({ url })
  client.on('error', console.error)
  await client.connect()
  return { store: redisStore(client), end: () => client.destroy() }
}

const { store, end } = await connect()
await serveStore(store)
end()
