import { keySlot } from '../key-slot.js'
import type { Command, Transport } from '../transport.js'
import { type NodeRedisClient, warnOfMissingListener } from './client.js'
import { BATCHING, connectionOf, prefixKeys } from './connection.js'

/** Creates the transport to one server. */
export function nodeRedisTransport(client: NodeRedisClient) {
  const connection = connectionOf(client)
  const wordsOf = prefixKeys(client._keyPrefix)
  const prefix = String(client._keyPrefix ?? '')
  return {
    batching: BATCHING,
    serverOf: undefined,
    slotOf: (key: string) => keySlot(prefix + key),
    scriptsOn: connection.scripts,
    send(commands: readonly Command[]): Promise<unknown>[] {
      warnOfMissingListener(client)
      connection.check()
      return commands.map((command) => connection.send(wordsOf(command)))
    },
  } satisfies Transport
}
