import slotOf from 'cluster-key-slot'
import { groupBy } from '../../util/group-by.js'
import { warnOnce } from '../../util/warn-once.js'
import type { RedisClusterClient } from './client.js'
import { connectionCheck } from './connection.js'
import { type Command, type Courier, sendAlone } from './transport.js'

/** How a node says that it has not run a command: another one has to, or the slot is on its way, or has no node. */
const NOT_RUN = /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN) /

/** Brings commands to the nodes of a Cluster, those for one node in one pipeline. A place is a slot. */
export function clusterCourier(client: RedisClusterClient): Courier {
  const checkConnection = connectionCheck(client)
  const prefix = client.options.keyPrefix ?? ''
  tellResends(client)

  function sendTogether(commands: readonly Command[]): Promise<unknown>[] {
    if (commands.length === 1) return commands.map((command) => sendAlone(client, command))
    const pipeline = client.pipeline()
    for (const { words } of commands) pipeline.callBuffer(...words)
    const results = pipeline.exec()
    return commands.map((command, i) => finish(command, results, i))
  }

  async function finish(
    command: Command,
    results: ReturnType<ReturnType<RedisClusterClient['pipeline']>['exec']>,
    i: number,
  ): Promise<unknown> {
    const found = await results.catch(() => undefined) // refused before anything was sent: the slots have just moved apart
    const [error, reply] = found?.[i] ?? [undefined, undefined]
    if (found === undefined || (error && NOT_RUN.test(error.message))) return sendAlone(client, command) // ioredis itself follows redirections of one command
    if (error) throw error
    return reply
  }

  return {
    placeOf: (key) => slotOf(prefix + key),
    send(commands) {
      checkConnection()
      const replies = new Map<Command, Promise<unknown>>()
      const byNode = groupBy(commands, ({ place }) => client.slots[place]?.join())
      for (const group of byNode.values()) {
        const sent = sendTogether(group)
        group.forEach((command, i) => {
          replies.set(command, sent[i] as Promise<unknown>)
        })
      }
      return commands.map((command) => replies.get(command) as Promise<unknown>)
    },
  }
}

/** ioredis 6.0 sends what was lost with a node's connection to the next node, unless told not to. */
function tellResends({ options }: RedisClusterClient): void {
  const sendsAgain = typeof options.clusterNodeRetryStrategy === 'function'
  if (options.retryDelayOnFailover === 0 && !sendsAgain) return
  warnOnce(
    'HEADGATE_REDIS_RESENDS',
    'headgate: the ioredis Cluster sends commands again when a node is lost, which can count a request twice. Make it ' +
      'with new Redis.Cluster(nodes, { retryDelayOnFailover: 0 }), without clusterNodeRetryStrategy.',
  )
}
