import { groupBy } from '../../../util/group-by.js'
import { itemsAt } from '../../shared/run-operations.js'
import { keySlot } from '../key-slot.js'
import type { Command, Transport } from '../transport.js'
import type { RedisClusterClient, RedisPipeline } from './client.js'
import { connectionCheck, sendTogether } from './server-transport.js'

/** A node's error for a command that it has not run: it does not serve the slot, or the slot is moving. */
const NOT_RUN = /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN) /

/** Creates the transport to a Cluster. A shard is a slot; a node's commands go in one pipeline. */
export function ioredisClusterTransport(client: RedisClusterClient) {
  const checkConnection = connectionCheck(client)
  const prefix = client.options.keyPrefix ?? ''

  /** By address. A node that restarted does not know its scripts, and gets their text. */
  const scripts = new Map<string | undefined, Set<string>>()
  function scriptsAt(address: string | undefined): Set<string> {
    const ofNode = scripts.get(address) ?? new Set()
    scripts.set(address, ofNode)
    return ofNode
  }

  function sendAlone(command: Command): Promise<unknown>[] {
    if (client.options.enableAutoPipelining) return sendTogether(client, [command])
    return [client.callBuffer(...command.words)]
  }

  function sendToNode(commands: readonly Command[]): Promise<unknown>[] {
    if (commands.length === 1) return commands.flatMap(sendAlone)
    const pipeline = client.pipeline()
    for (const { words } of commands) pipeline.callBuffer(...words)
    const replies = pipeline.exec()
    return commands.map((command, i) => replyTo(command, replies, i))
  }

  /** Returns a reply. A command that was not run is sent again, alone: ioredis then follows redirections. */
  async function replyTo(
    command: Command,
    replies: ReturnType<RedisPipeline['exec']>,
    i: number,
  ): Promise<unknown> {
    const outcomes = await replies.catch(() => undefined) // not sent: its slots have just moved apart
    const [error, reply] = outcomes?.[i] ?? [undefined, undefined]
    if (outcomes === undefined || (error && NOT_RUN.test(error.message))) return sendAlone(command)[0]
    if (error) throw error
    return reply
  }

  return {
    batching: undefined,
    slotOf: (key: string) => keySlot(prefix + key),
    serverOf: (slot: number) => client.slots[slot]?.[0],
    scriptsOn: (slot: number) => scriptsAt(client.slots[slot]?.[0]),
    send(commands: readonly Command[]): Promise<unknown>[] {
      checkConnection()
      const replies: Promise<unknown>[] = []
      const byNode = groupBy(commands.keys(), (i) => client.slots[commands[i]?.shard ?? -1]?.join())
      for (const indexes of byNode.values()) {
        for (const [i, reply] of sendToNode(itemsAt(commands, indexes)).entries()) {
          const index = indexes[i]
          if (index !== undefined) replies[index] = reply
        }
      }
      return replies
    },
  } satisfies Transport
}
