import { keySlot } from '../key-slot.js'
import { refusalIn } from '../reply.js'
import type { Command, Transport } from '../transport.js'
import { type NodeRedisClient, type NodeRedisSentinelClient, warnOfMissingListener } from './client.js'
import { BATCHING, checkOpen, connectionOf, notConnected, prefixKeys } from './connection.js'

/** A server's error for a write when it is not the master any more. */
const READONLY = /^READONLY /

/**
 * Creates the transport to the master of a Sentinel group. redis 5 and 6 run a command again that has failed
 * because the connection was lost. So the store only asks for the client of the master, and sends commands
 * through that one for as long as it is connected, whatever the Sentinels do.
 */
export function nodeRedisSentinelTransport(client: NodeRedisSentinelClient) {
  const wordsOf = prefixKeys(client._keyPrefix)
  const prefix = String(client._keyPrefix ?? '')
  /** The master that was found last, which may be disconnected. */
  let master: NodeRedisClient | undefined
  /** A master that has replied READONLY, and what it said. */
  let demoted: { readonly server: NodeRedisClient; readonly error: Error } | undefined
  let searching: Promise<NodeRedisClient> | undefined
  let lastFailure: unknown

  /** Finds the master. Only one search runs: concurrent ones would take several of the client's leases. */
  function search(): Promise<NodeRedisClient> {
    searching ??= findMaster().finally(() => {
      searching = undefined
      demoted = undefined
    })
    return searching
  }

  async function findMaster(): Promise<NodeRedisClient> {
    try {
      master = await client._execute(false, async (found) => {
        if (found === demoted?.server) throw demoted.error // then the client looks for the new master
        return found
      })
      return master
    } catch (cause) {
      lastFailure = cause
      throw notConnected(client, cause)
    }
  }

  async function sendTo(server: NodeRedisClient, words: string[]): Promise<unknown> {
    const searchAfter = (message: string) => {
      if (READONLY.test(message)) demoted = { server, error: new Error(message) }
    }
    try {
      const reply = await connectionOf(server).send(words)
      searchAfter(refusalIn(reply))
      return reply
    } catch (error) {
      if (error instanceof Error) searchAfter(error.message)
      throw error
    }
  }

  return {
    batching: BATCHING,
    serverOf: undefined,
    slotOf: (key: string) => keySlot(prefix + key),
    scriptsOn: () => (master ? connectionOf(master).scripts() : new Set<string>()),
    send(commands: readonly Command[]): Promise<unknown>[] {
      warnOfMissingListener(client)
      checkOpen(client)
      if (commands.length === 0) return []
      if (master?.isReady && master !== demoted?.server) {
        const server = master
        return commands.map((command) => sendTo(server, wordsOf(command)))
      }
      const masterFound = search()
      if (master === undefined)
        return commands.map(async (command) => sendTo(await masterFound, wordsOf(command)))
      masterFound.catch(() => undefined) // a later charge fails with the reason
      throw notConnected(client, lastFailure)
    },
  } satisfies Transport
}
