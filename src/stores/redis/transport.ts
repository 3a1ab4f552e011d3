import { warnOnce } from '../../util/warn-once.js'
import { StoreError } from '../store-error.js'
import { connectionCheck, type RedisClient, type RedisClusterClient, rejectOnLoss } from './client.js'

/** A command for the shard in which its keys live. */
export interface Command {
  readonly shard: number
  readonly words: readonly [name: string, ...args: string[]]
}

/** Sends commands to a server, or to the servers of a Cluster. */
export interface Transport {
  /** Returns a key's shard, which the keys of a command share. Absent where there is only shard 0. */
  readonly shardOf?: (key: string) => number
  /** Returns a promise of each reply. Commands for one shard keep their order. Throws when offline. */
  send(commands: readonly Command[]): Promise<unknown>[]
}

/** Creates the transport to one server, or to the master of a Sentinel group. */
export function serverTransport(client: RedisClient): Transport {
  const checkConnection = connectionCheck(client)
  const orLost = rejectOnLoss(client)
  if (client.options.autoResendUnfulfilledCommands !== false) {
    warnOnce(
      'HEADGATE_REDIS_RESENDS',
      'headgate: the ioredis client sends commands again after a reconnect, which can count a request twice. Make it ' +
        'with new Redis(url, { autoResendUnfulfilledCommands: false }).',
    )
  }
  return {
    send(commands) {
      checkConnection()
      return commands.map((command) => orLost(sendOne(client, command)))
    },
  }
}

/**
 * Sends one command. A client that makes pipelines by itself (`enableAutoPipelining`, ioredis 5 and 6) loses
 * the name of a command sent by `callBuffer`, so it gets a pipeline of one.
 */
export async function sendOne(
  client: RedisClient | RedisClusterClient,
  { words }: Command,
): Promise<unknown> {
  if (!client.options.enableAutoPipelining) return client.callBuffer(...words)
  const pipeline = client.pipeline()
  pipeline.callBuffer(...words)
  const [[error, reply] = []] = (await pipeline.exec()) ?? []
  if (error) throw error
  return reply
}

/** Returns the `StoreError` of a failed command. */
export function asStoreError(cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause
  return new StoreError('redis', cause instanceof Error ? cause.message : 'the command failed', { cause })
}
