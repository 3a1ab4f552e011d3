import { Redis } from 'ioredis'

interface ConnectOptions {
  readonly retryStrategy?: () => number
  /** A connection that was reset keeps its process for this long, two seconds by default. */
  readonly disconnectTimeout?: number
}

/** Connects a client as the docs advise, and waits until it is ready. */
export async function connect(url: string, options: ConnectOptions = {}): Promise<Redis> {
  const client = new Redis(url, { autoResendUnfulfilledCommands: false, ...options })
  client.on('error', () => undefined) // while a server is down, connecting fails
  await client.ping()
  return client
}

/** Everything that a database holds, each value as DUMP gives it. */
export async function dumpAll(client: Redis): Promise<Record<string, string | undefined>> {
  const held: Record<string, string | undefined> = {}
  for (const key of (await client.keys('*')).sort())
    held[key] = (await client.dumpBuffer(key))?.toString('hex')
  return held
}

/** The server's clock, in milliseconds since the Unix epoch. */
export async function serverTimeMs(client: Redis): Promise<number> {
  const [seconds, microseconds] = await client.time()
  return (Number(seconds) * 1_000_000 + Number(microseconds)) / 1000
}
