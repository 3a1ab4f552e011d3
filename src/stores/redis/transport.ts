import type { Batching } from '../store.js'
import type { Script } from './lua/script.js'

export interface Command {
  readonly shard: number
  readonly words: readonly [name: string, ...args: string[]]
  /**
   * Where in `words` the first key is, and how many keys there are. A command without keys goes to the
   * shard's server.
   */
  readonly firstKey: number
  readonly keyCount: number
}

/**
 * Scripts that reply with text, for a transport that decodes every string as UTF-8, which destroys bytes.
 */
export interface TextReplies {
  /** Returns the script that replies with text instead of bytes. */
  scriptFor(script: Script): Script
  /** Returns the reply of such a script, with the text decoded to bytes. */
  bytesIn(reply: unknown): unknown
}

/** Sends commands to a server, or to the servers of a Cluster, through the user's client. */
export interface Transport {
  /** Returns a key's slot in a Cluster, which the keys of a command share: its shard. */
  slotOf(key: string): number
  /** Returns the server of a slot, as the client now knows it. `undefined` for a client of one server. */
  readonly serverOf: ((slot: number) => string | undefined) | undefined
  /** Set if the keys of a command must share a slot, although `serverOf` is missing. */
  readonly hasSlots?: boolean
  /** Set if strings in replies arrive as text. Default: they arrive as bytes. */
  readonly textReplies?: TextReplies
  /**
   * Returns the set in which the store keeps the digests of the scripts that it has loaded on a slot's
   * server: one set for each connection or, with a Cluster of ioredis, for each server. Stores that share a
   * client share it. Commands on a connection keep their order, so a script is there for every command after
   * the one that loads it. If this is `undefined`, scripts are not loaded beforehand: the first call of each
   * is rejected, and sent again with the script.
   */
  readonly scriptsOn: ((slot: number) => Set<string>) | undefined
  /** How the batches for this client differ from those for others. */
  readonly batching: Partial<Batching> | undefined
  /**
   * Returns a promise of each reply. Commands for one shard keep their order.
   * Throws or rejects while disconnected. Never sends a command again that may have run.
   */
  send(commands: readonly Command[]): Promise<unknown>[]
}
