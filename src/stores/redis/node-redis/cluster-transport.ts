import { pause } from '../../../util/defer.js'
import { TimeoutError, timeout } from '../../../util/timeout.js'
import { StoreError } from '../../store-error.js'
import { keySlot } from '../key-slot.js'
import type { Command, Transport } from '../transport.js'
import {
  type NodeRedisClient,
  type NodeRedisClusterClient,
  type NodeRedisClusterNode,
  warnOfMissingListener,
} from './client.js'
import { BATCHING, checkOpen, connectionOf, notConnected, OPTIONS, prefixKeys } from './connection.js'

/** How often a client that is connecting is looked at. */
const POLL_MS = 5

/** How long a redirected command may take: its new node may be down, or its client not connected yet. */
const REDIRECTION_TIMEOUT_MS = 250

/** A node's error for a command that it has not run: it does not serve the slot, or not this key of it. */
const REDIRECTION = /^(MOVED|ASK) /

/**
 * Creates the transport to a Cluster. A shard is a slot. Commands go straight to the client of the slot's
 * node, which writes them together; one that was redirected, and so not run, is sent again, and redis 5 and
 * 6 then follow redirections.
 */
export function nodeRedisClusterTransport(client: NodeRedisClusterClient) {
  const wordsOf = prefixKeys(client._keyPrefix)
  const prefix = String(client._keyPrefix ?? '')
  const limitRedirection = timeout(REDIRECTION_TIMEOUT_MS)
  const isConnected = () => client.masters.length > 0
  /** Resolves once the client knows the nodes; `undefined` since then. */
  let connecting: Promise<void> | undefined

  async function firstDiscovery(): Promise<void> {
    while (client.isOpen && !isConnected()) await pause(POLL_MS)
    connecting = undefined
  }

  /** Returns the client of a node. With `minimizeConnections`, the first command to the node creates it. */
  function clientOf(node: NodeRedisClusterNode): NodeRedisClient {
    if (node.client === undefined) Promise.resolve(client.nodeClient(node as never)).catch(() => undefined) // emitted too
    if (node.client === undefined) throw notConnected(client)
    return node.client
  }

  /** Sends a command, unless its node is disconnected: it would wait in that client's queue. */
  async function sendToNode(command: Command): Promise<unknown> {
    checkOpen(client)
    const node = client.slots[command.shard]?.master
    if (node === undefined)
      throw new StoreError('redis', `no node of the Cluster serves slot ${command.shard}`)
    const words = wordsOf(command)
    const connection = connectionOf(clientOf(node))
    connection.check()
    try {
      return await connection.send(words)
    } catch (error) {
      if (!(error instanceof Error && REDIRECTION.test(error.message))) throw error
      return sendRedirected(words[command.firstKey] ?? '', words)
    }
  }

  /** Sends a command to the node that serves its slot now. Never writes it once the time is over. */
  async function sendRedirected(key: string, words: string[]): Promise<unknown> {
    const controller = new AbortController()
    const options = { ...OPTIONS, abortSignal: controller.signal }
    try {
      return await limitRedirection(client.sendCommand(key, false, words, options))
    } catch (cause) {
      if (!(cause instanceof TimeoutError)) throw cause
      controller.abort()
      throw new StoreError('redis', 'the slot has moved to a node that did not reply', { cause })
    }
  }

  return {
    batching: BATCHING,
    slotOf: (key: string) => keySlot(prefix + key),
    serverOf: (slot: number) => client.slots[slot]?.master.address,
    scriptsOn(slot: number): Set<string> {
      const node = client.slots[slot]?.master
      return node?.client ? connectionOf(node.client).scripts() : new Set()
    },
    send(commands: readonly Command[]): Promise<unknown>[] {
      warnOfMissingListener(client)
      checkOpen(client)
      if (!isConnected()) connecting ??= firstDiscovery()
      const isWaiting = connecting
      return commands.map((command) =>
        isWaiting ? isWaiting.then(() => sendToNode(command)) : sendToNode(command),
      )
    },
  } satisfies Transport
}
