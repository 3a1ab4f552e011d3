import { rateLimit, type Store } from 'headgate/http'
import { redisStore } from 'headgate/redis'
import { createClient, createCluster, createSentinel } from 'redis'

const url = 'redis://localhost'
const nodes = [{ host: 'localhost', port: 6379 }]
const scripts = {
  add: {
    SCRIPT: 'return ARGV[1] + 1',
    SHA1: '',
    NUMBER_OF_KEYS: 0,
    parseCommand: (parser: { push(...words: string[]): unknown }, value: number) =>
      parser.push(String(value)),
    transformReply: (reply: number) => reply,
  },
}
const client = createClient({ url })
const other = createClient({ url, RESP: 3, scripts, commandOptions: { typeMapping: { 36: Buffer } } })
const sentinel = createSentinel({ name: 'main', sentinelRootNodes: nodes })
const cluster = createCluster({ rootNodes: [{ url }], defaults: { username: 'ada' } })

const stores: Store[] = [redisStore(client), redisStore(other), redisStore(sentinel), redisStore(cluster)]
export const limiters = stores.map((store) => rateLimit({ limit: 2, window: '1h', store }))

export const mistakes = [
  // @ts-expect-error: a transaction is no client
  () => redisStore(client.multi()),
  // @ts-expect-error: a promise of a client is no client
  () => redisStore(client.connect()),
  // @ts-expect-error: a URL is no client
  () => redisStore(url),
]
