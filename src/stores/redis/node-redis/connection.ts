import { builtin, errorMonitor } from '../../../platform.js'
import { weakMemo } from '../../../util/memo.js'
import type { Batching } from '../../store.js'
import { StoreError } from '../../store-error.js'
import { disconnectedError, lossError } from '../errors.js'
import type { Command } from '../transport.js'
import type { NodeRedisClient, NodeRedisCommandOptions } from './client.js'

/** Options that turn strings in replies into buffers, and let a command wait in the client's queue. */
export const OPTIONS: NodeRedisCommandOptions = {
  typeMapping: { 36: globalThis.Buffer as never },
  timeout: 0,
  asap: false,
}

/**
 * node-redis writes all commands of one turn of the event loop together, one turn later, after replies are
 * read. A third batch in flight gives the server work meanwhile.
 */
export const BATCHING: Partial<Batching> = { maxInFlight: 3, onePerTurn: true }

export interface Connection {
  /**
   * Throws a `StoreError` while the client is disconnected: a command must not wait in its queue until long
   * after its request is gone. Commands do wait for the first connection.
   */
  check(): void
  /** Returns the digests of the scripts on the current connection: a new set after each loss. */
  scripts(): Set<string>
  /** Sends a command. It is rejected when the connection is lost, and then never written any more. */
  send(words: string[]): Promise<unknown>
}

/**
 * Returns the connection of a client. When a connection is lost, node-redis 5 and 6 reject the commands that
 * were written, and keep those that were not for the next connection: a signal removes them. Stores that
 * share a client share its listeners. One for `errorMonitor` does not count as a listener for errors.
 */
export const connectionOf = weakMemo((client: NodeRedisClient): Connection => {
  let isStarting = !client.isReady
  let unwritten = unwrittenCommands()
  let lastError: unknown
  client.on('ready', () => {
    isStarting = false
    lastError = undefined
  })
  client.on(errorMonitor(), (error) => {
    lastError = error
    if (client.isReady) return // an odd reply or a failed ping; a lost connection is not ready any more
    isStarting = false
    const lost = unwritten
    unwritten = unwrittenCommands()
    lost.abort()
  })
  return {
    check() {
      if (client.isReady) return
      checkOpen(client)
      if (!isStarting) throw notConnected(client, lastError)
    },
    scripts: () => unwritten.scripts,
    send: (words) =>
      explainLoss(client.sendCommand(words, unwritten.options), unwritten.options, (cause) =>
        lossError(client, lastError ?? cause),
      ),
  }
})

/** Creates options for commands that `abort` removes until they are written. */
function unwrittenCommands() {
  const controller = new AbortController()
  builtin<typeof import('node:events')>('node:events')?.setMaxListeners?.(0, controller.signal) // one for each command
  const options = { ...OPTIONS, abortSignal: controller.signal }
  return { options, scripts: new Set<string>(), abort: () => controller.abort() }
}

export function checkOpen({ isOpen }: { readonly isOpen: boolean }): void {
  if (isOpen) return
  throw new StoreError('redis', 'the client is not connected (closed). Call client.connect() first.', {
    unsent: true,
  })
}

/** Returns the error of a command that is not sent, since the client is reconnecting. */
export function notConnected(client: object, cause?: unknown): StoreError {
  return disconnectedError('reconnecting', cause, client)
}

/** Returns a promise of a reply to a command, which is a `StoreError` once its connection was lost. */
async function explainLoss(
  reply: Promise<unknown>,
  { abortSignal }: NodeRedisCommandOptions,
  errorOf: (cause: unknown) => StoreError,
): Promise<unknown> {
  try {
    return await reply
  } catch (cause) {
    if (!abortSignal?.aborted) throw cause
    throw errorOf(cause)
  }
}

/**
 * Returns a function that returns a command's words, its keys with the client's prefix: node-redis 6 adds it
 * only to commands that it knows by name.
 */
export function prefixKeys(keyPrefix: string | Uint8Array = ''): (command: Command) => string[] {
  const prefix = String(keyPrefix)
  return ({ words, firstKey, keyCount }) => {
    const all: string[] = [...words]
    if (prefix) for (let i = firstKey; i < firstKey + keyCount; i++) all[i] = prefix + all[i]
    return all
  }
}
