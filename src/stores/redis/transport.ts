import type { Batching } from '../store.js'

export interface Command {
  readonly shard: number
  readonly words: readonly [name: string, ...args: string[]]
  /** Where in `words` the first key is, and how many keys there are. Without keys, it goes to the shard's server. */
  readonly firstKey: number
  readonly keyCount: number
}

/** Sends commands to a server, or to the servers of a Cluster, through the user's client: what each driver does. */
export interface Transport {
  /** Returns a key's slot in a Cluster, which the keys of a command share: its shard. */
  slotOf(key: string): number
  /** Returns the server of a slot, as the client knows it now. `undefined` if the client is for one server. */
  readonly serverOf: ((slot: number) => string | undefined) | undefined
  /**
   * Returns the digests of the scripts that were loaded on the connection to a slot's server, for the store to
   * keep: another set after a reconnect. Stores that share a client share them. Commands on a connection keep their
   * order, so the server knows a script in every command after its loading.
   */
  scriptsOn(slot: number): Set<string>
  /** What the client needs of the batcher that differs from other clients. */
  readonly batching: Partial<Batching> | undefined
  /**
   * Returns a promise of each reply, with strings as buffers. Commands for one shard keep their order.
   * Throws or rejects while disconnected. Never sends a command again that may have run.
   */
  send(commands: readonly Command[]): Promise<unknown>[]
}
