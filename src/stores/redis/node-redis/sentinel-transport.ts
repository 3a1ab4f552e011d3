import { timeout } from '../../../util/timeout.js'
import type { Transport } from '../transport.js'
import { type NodeRedisClient, type NodeRedisSentinelClient, warnOfMissingListener } from './client.js'
import { checkOpen, connectionOf, notConnected } from './connection.js'
import { prefixKeys } from './prefix-keys.js'

/** How long a command waits for a client that is looking for the master, which may take seconds. */
const FIND_TIMEOUT_MS = 100

/**
 * Creates the transport to the master of a Sentinel group. redis 5 and 6 run a command again that has failed
 * because the connection was lost. So the store only asks for the client of the master, and sends the
 * command through that one.
 */
export function nodeRedisSentinelTransport(client: NodeRedisSentinelClient): Transport {
  const wordsOf = prefixKeys(client._keyPrefix)
  const limitSearch = timeout(FIND_TIMEOUT_MS)
  let isStarting = true

  /** Resolves with the connection to the master; with the first one, however long that takes. */
  async function findMaster(): Promise<NodeRedisClient> {
    const found = client._execute(false, async (master) => master)
    try {
      return await (isStarting ? found : limitSearch(found))
    } catch (cause) {
      throw notConnected({ cause })
    }
  }

  return {
    send(commands) {
      warnOfMissingListener(client)
      checkOpen(client)
      const isConnected = client.getMasterNode() !== undefined
      isStarting &&= !isConnected
      if (!isConnected && !isStarting) throw notConnected()
      const master = findMaster()
      return commands.map(async (command) => connectionOf(await master).send(wordsOf(command)))
    },
  }
}
