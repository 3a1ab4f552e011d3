import type { ProcessNotes } from '../store.js'
import { commandError } from './errors.js'
import type { Command, Transport } from './transport.js'

/** Keeps the notes under a key in a hash, with a field for each process. */
export function redisNotes({ slotOf, send }: Transport): ProcessNotes {
  async function run(...commands: readonly [name: string, key: string, ...args: string[]][]) {
    const toSend = commands.map((words): Command => {
      return { shard: slotOf(words[1]), words, firstKey: 1, keyCount: 1 }
    })
    try {
      return await Promise.all(send(toSend))
    } catch (cause) {
      throw commandError(cause, undefined)
    }
  }

  return {
    async write(key, process, note, ttlMs) {
      await run(['hset', key, process, note], ['pexpire', key, String(ttlMs)])
    },
    async read(key) {
      const [reply] = await run(['hvals', key]) // drivers read the reply of HGETALL each in its own way
      return Array.isArray(reply) ? reply.map(String) : []
    },
    async remove(key, process) {
      await run(['hdel', key, process])
    },
  }
}
