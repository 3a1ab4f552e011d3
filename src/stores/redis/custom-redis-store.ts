import { readOptions, requiredFunction, withDefault } from '../../options/option-table.js'
import { wrongOption } from '../../util/validate.js'
import type { Store } from '../store.js'
import { repliesIn } from './client-replies.js'
import { type CommandWords, commandTransport } from './command-transport.js'
import { hintFor } from './hints.js'
import { serversOver } from './servers.js'
import { storeOver } from './store-over.js'
import { TEXT_REPLIES } from './text-replies.js'

/** Options of `customRedisStore`: what it needs of a client. */
export interface CustomRedisStoreOptions {
  /**
   * Sends commands to the server in this order, and returns a promise of each reply. A command is a list of
   * its name and its arguments, such as `['EVALSHA', 'e0e1…', '1', 'key', '60000']`.
   *
   * - Resolve with the server's reply, without parsing it. Strings in it may be UTF-8 text or bytes.
   * - For an error reply, reject with the server's message, which begins with a code such as `NOSCRIPT`.
   *   headgate then knows that the command did nothing.
   * - If a command was certainly not sent, throw or reject with a `StoreError` that has `unsent: true`.
   * - After any other error, headgate assumes that the command may have run.
   * - Never send a command twice, and do not queue commands until the client has reconnected.
   */
  send(commands: readonly CommandWords[]): readonly Promise<unknown>[]
  /**
   * Whether the server is a Cluster. If so, `send` must send each command to the node of its first key.
   * Default false.
   */
  readonly cluster?: boolean
}

/** This is a function because bundlers keep constants that call functions, even unused ones. */
const optionTable = () => ({
  rows: {
    send: requiredFunction('Write send: (commands) => commands.map((words) => client.sendCommand(words)).'),
    cluster: withDefault(false, (owner, option, value): boolean => {
      if (typeof value === 'boolean') return value
      throw wrongOption(owner, option, 'true or false', value)
    }),
  },
})

/**
 * Creates a store that uses any client. It keeps states in Redis, Valkey, or a server that runs their
 * scripts, such as Dragonfly. It shares limits with a `redisStore` on the same server. For the clients that
 * `redisStore` takes, `redisStore` is faster.
 *
 * Throws a `TypeError` for wrong options.
 *
 * @example
 * ```ts
 * import { customRedisStore } from 'headgate/redis'
 *
 * declare const client: { call(words: readonly string[]): Promise<unknown> }
 *
 * const store = customRedisStore({ send: (commands) => commands.map((words) => client.call(words)) })
 * ```
 */
export function customRedisStore(options: CustomRedisStoreOptions): Store {
  const owner = 'customRedisStore'
  const { cluster } = readOptions(owner, options, optionTable())
  const send = (commands: readonly CommandWords[]) => repliesIn(options.send(commands), commands.length)
  const transport = commandTransport(send, {
    hasSlots: cluster,
    textReplies: TEXT_REPLIES,
  })
  return storeOver(owner, serversOver('redis', options, transport, hintFor))
}
