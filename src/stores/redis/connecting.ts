import type { Unchecked } from '../shared/validate.js'
import type { RedisClient } from './ioredis/client.js'
import type { NodeRedisClient } from './node-redis/client.js'

/** The options that hold `tls`: those of ioredis, of its Cluster, and of node-redis, in this order. */
interface RedisOptions {
  readonly tls: unknown
  readonly redisOptions: unknown
  readonly socket: unknown
}

/**
 * Returns why calls time out while their client is connecting, and the fix. A server without TLS leaves the
 * greeting of a client with TLS unanswered, and the client reports nothing for 5 or 10 seconds.
 */
export function whyConnecting(client: object): string | undefined {
  const { status, isOpen, isReady }: Unchecked<RedisClient> & Unchecked<NodeRedisClient> = client
  if (status === 'connect')
    return 'The client is waiting for the server to be ready, for example to load its data from disk.'
  if (status !== 'connecting' && !(isOpen && isReady === false)) return undefined
  const fix = hasTls(client)
    ? 'If the server does not use TLS on this port, use a redis:// URL.'
    : "Check that Redis runs at the client's URL."
  return `The client is still connecting. ${fix}`
}

/** Returns whether a client encrypts its connections, if its options show that. */
export function hasTls(client: object): boolean {
  const { options }: { readonly options?: Unchecked<RedisOptions> } = client
  return [options?.tls, tlsOf(options?.redisOptions), tlsOf(options?.socket)].some(Boolean)
}

function tlsOf(options: unknown): unknown {
  return ((options ?? {}) as { readonly tls?: unknown }).tls
}
