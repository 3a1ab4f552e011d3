// Stores of servers, isolates and the workers of `node:cluster`, without the types of Node.js.
import { Redis } from '@upstash/redis'
import { createLimiter, type Store } from 'headgate'
import { clusterStore, serveChild } from 'headgate/cluster'
import { denoKvStore } from 'headgate/deno-kv'
import { durableObjectsStore, type ObjectNamespace } from 'headgate/durable-objects'
import { type DynamodbSchema, dynamodbSchema, dynamodbStore } from 'headgate/dynamodb'
import { upstashStore } from 'headgate/upstash'

export function stores(
  namespace: ObjectNamespace,
  kv: Parameters<typeof denoKvStore>[0],
  db: Parameters<typeof dynamodbStore>[0],
): Store[] {
  return [
    clusterStore({ maxKeys: 1000 }),
    denoKvStore(kv),
    durableObjectsStore(() => namespace, { shards: 4, writeDelay: '1s' }),
    dynamodbStore(db, { table: 'limits' }),
    upstashStore({ url: 'https://example.upstash.io', token: 'secret' }),
    upstashStore(new Redis({ url: 'https://example.upstash.io', token: 'secret', retry: { retries: 0 } })),
  ]
}

export const limiter = createLimiter({ limit: 2, window: '1h', key: String, store: clusterStore() })
export const schema: DynamodbSchema = dynamodbSchema({ table: 'limits' })
export { serveChild }

export const mistakes = [
  // @ts-expect-error: a URL is no client
  () => upstashStore('https://example.upstash.io'),
  // @ts-expect-error: there is no such option
  () => clusterStore({ maxkeys: 1000 }),
  // @ts-expect-error: a promise of a KV is no KV
  (kv: Promise<Parameters<typeof denoKvStore>[0]>) => denoKvStore(kv),
]
