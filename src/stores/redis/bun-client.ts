import { hasMethods, isObject } from '../../util/values.js'
import { commandTransport } from './command-transport.js'
import { disconnectedError } from './errors.js'
import { TEXT_REPLIES } from './text-replies.js'
import type { Transport } from './transport.js'

/** What the store needs of a `RedisClient` of Bun (https://bun.sh/docs/api/redis). */
export interface BunRedisClient {
  readonly connected: boolean
  /** Sends any command. Decodes strings in the reply as UTF-8. */
  send(command: string, args: string[]): Promise<unknown>
  connect(): Promise<unknown>
  getBuffer(key: string): Promise<unknown>
}

export function isBunRedis(value: unknown): value is BunRedisClient {
  if (!isObject(value)) return false
  const { connected }: { readonly connected?: unknown } = value
  return typeof connected === 'boolean' && hasMethods(value, 'send', 'connect', 'getBuffer')
}

/**
 * Creates the transport to one server. When the connection is lost, Bun rejects the commands in flight. It
 * would queue later commands until it has reconnected, so the transport does not send them.
 */
export function bunTransport(client: BunRedisClient): Transport {
  const scripts = new Set<string>()
  let wasConnected = false
  return commandTransport(
    (commands) => {
      wasConnected ||= client.connected
      if (wasConnected && !client.connected) {
        client.connect().catch(() => undefined) // Bun gives up after some attempts
        throw disconnectedError('reconnecting', undefined, client)
      }
      return commands.map(([name, ...args]) => client.send(name, args))
    },
    { scriptsOn: () => scripts, textReplies: TEXT_REPLIES },
  )
}
