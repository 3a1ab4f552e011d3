import { warnOnce } from '../../util/warn-once.js'
import { connectionCheck, type RedisClient, type RedisClusterClient, rejectOnLoss } from './client.js'

/** A command whose keys live in one shard. */
export interface Command {
  readonly shard: number
  readonly words: readonly [name: string, ...args: string[]]
}

/** Sends commands to a server, or to the servers of a Cluster. */
export interface Transport {
  /** Returns a key's shard, which the keys of a command share. Absent where there is only shard 0. */
  readonly shardOf?: (key: string) => number
  /** Returns a promise of each reply. Commands for one shard keep their order. Throws while disconnected. */
  send(commands: readonly Command[]): Promise<unknown>[]
}

/** Creates the transport to one server, or to the master of a Sentinel group. */
export function serverTransport(client: RedisClient): Transport {
  const checkConnection = connectionCheck(client)
  const orLost = rejectOnLoss(client)
  if (client.options.autoResendUnfulfilledCommands !== false) {
    warnOnce(
      'HEADGATE_REDIS_RESENDS',
      'headgate: the ioredis client resends commands after a reconnect, which can count a request twice. Create it ' +
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
 * Sends one command. With `enableAutoPipelining`, ioredis 5 and 6 lose the name of a command sent by
 * `callBuffer`, so it goes in a pipeline of its own.
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
