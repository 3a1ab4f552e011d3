import { StoreError } from '../store-error.js'
import type { RedisClient, RedisClusterClient } from './client.js'

/** A command for the place where its keys live. */
export interface Command {
  readonly place: number
  readonly words: readonly [name: string, ...args: string[]]
}

/** Brings commands to the server, or to the servers of a Cluster, that they are for. */
export interface Courier {
  /** Where a key lives: the keys of one command must share a place. Absent where there is only one, which is 0. */
  readonly placeOf?: (key: string) => number
  /** Sends commands, those for one place in their order, and gives a promise of the reply to each. */
  send(commands: readonly Command[]): Promise<unknown>[]
}

/**
 * Sends one command. Where the client makes pipelines by itself (`enableAutoPipelining`), ioredis 5 and 6 lose the name of a
 * command that comes by `callBuffer`; in a pipeline of one's own they do not.
 */
export function sendAlone(client: RedisClient | RedisClusterClient, { words }: Command): Promise<unknown> {
  return client.options.enableAutoPipelining ? sendInPipeline(client, words) : client.callBuffer(...words)
}

async function sendInPipeline(
  client: RedisClient | RedisClusterClient,
  words: Command['words'],
): Promise<unknown> {
  const pipeline = client.pipeline()
  pipeline.callBuffer(...words)
  const [[error, reply] = []] = (await pipeline.exec()) ?? []
  if (error) throw error
  return reply
}

/** What went wrong with a command, as callers of the store are told. */
export function asStoreError(cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause
  return new StoreError('redis', cause instanceof Error ? cause.message : 'the command failed', { cause })
}
