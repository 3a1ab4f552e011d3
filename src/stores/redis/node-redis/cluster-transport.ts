import { setTimeout as pause } from 'node:timers/promises'
import { StoreError } from '../../store-error.js'
import { keySlot } from '../key-slot.js'
import type { Command, Transport } from '../transport.js'
import { type NodeRedisClusterClient, warnOfMissingListener } from './client.js'
import { checkOpen, connectionOf, explainLoss, OPTIONS } from './connection.js'
import { prefixKeys } from './prefix-keys.js'

/** How often a client that is connecting is looked at. */
const POLL_MS = 5

/** A node's error for a command that it has not run: it does not serve the slot, or not this key of it. */
const REDIRECTION = /^(MOVED|ASK) /

/**
 * Creates the transport to a Cluster. A shard is a slot. Commands go straight to the client of the slot's
 * node, which writes them together; one that was not run is sent again, and redis 5 and 6 then follow
 * redirections.
 */
export function nodeRedisClusterTransport(client: NodeRedisClusterClient): Transport {
  const wordsOf = prefixKeys(client._keyPrefix)
  const prefix = String(client._keyPrefix ?? '')
  const isConnected = () => client.isReady ?? client.masters.length > 0
  /** Resolves once the client has connected for the first time; `undefined` since then. */
  let connecting: Promise<void> | undefined

  async function firstConnection(): Promise<void> {
    while (client.isOpen && !isConnected()) await pause(POLL_MS)
    connecting = undefined
  }

  /** Sends a command, unless its node is disconnected: it would wait in that client's queue. */
  async function sendToNode(command: Command): Promise<unknown> {
    checkOpen(client)
    const node = client.slots[command.shard]?.master
    if (node === undefined)
      throw new StoreError('redis', `no node of the Cluster serves slot ${command.shard}`)
    const words = wordsOf(command)
    const key = words[command.firstKey] as string
    if (node.client === undefined) return client.sendCommand(key, false, words, OPTIONS) // connects
    const connection = connectionOf(node.client)
    connection.check()
    try {
      return await connection.send(words)
    } catch (error) {
      if (!(error instanceof Error && REDIRECTION.test(error.message))) throw error
      const { options } = connection
      return explainLoss(client.sendCommand(key, false, words, options), options)
    }
  }

  return {
    shardOf: (key) => keySlot(prefix + key),
    send(commands) {
      warnOfMissingListener(client)
      checkOpen(client)
      if (!isConnected()) connecting ??= firstConnection()
      const isWaiting = connecting
      return commands.map((command) =>
        isWaiting ? isWaiting.then(() => sendToNode(command)) : sendToNode(command),
      )
    },
  }
}
