import { setTimeout as pause } from 'node:timers/promises'
import { StoreError } from '../../store-error.js'
import { keySlot } from '../key-slot.js'
import type { Command, Transport } from '../transport.js'
import { type NodeRedisClusterClient, warnOfMissingListener } from './client.js'
import { checkOpen, connectionOf, OPTIONS, withLoss } from './connection.js'
import { prefixed } from './prefixed.js'

/** How often a client that is connecting is looked at. */
const POLL_MS = 5

/**
 * Creates the transport to a Cluster. A shard is a slot. node-redis writes the commands of a node together,
 * and sends one again only where the reply is MOVED or ASK, which says that it was not run.
 */
export function nodeRedisClusterTransport(client: NodeRedisClusterClient): Transport {
  const wordsOf = prefixed(client._keyPrefix)
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
    const connection = node.client && connectionOf(node.client)
    connection?.check()
    const options = connection?.options ?? OPTIONS
    const words = wordsOf(command)
    const key = words[command.firstKey] as string
    return withLoss(client.sendCommand(key, false, words, options), options)
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
