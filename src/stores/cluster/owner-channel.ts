import { explainTimeouts } from '../../pipe/client-notes.js'
import { processWide } from '../../util/process-wide.js'
import { timeout } from '../../util/timeout.js'
import type { OwnerMessage } from '../builders/owner-store.js'
import { StoreError } from '../store-error.js'
import { type ClusterRequest, isReply } from './messages.js'

/**
 * How long to wait for a reply. Limiters wait for less time. A reply that arrives after their time-out still
 * releases units of `concurrency`.
 */
export const REPLY_TIMEOUT_MS = 60_000

interface Waiting {
  resolve(reply: unknown): void
  reject(error: StoreError): void
}

/**
 * The IPC channel from this process to the one that owns the counts. It listens only while a reply is due,
 * because a listener keeps the process running.
 */
export class OwnerChannel {
  readonly #waiting = new Map<number, Waiting>()
  readonly #withTimeout = timeout(REPLY_TIMEOUT_MS)
  /** Messages for the application that arrived while only this channel listened. */
  #held: [message: unknown, handle: unknown][] = []
  #sent = 0
  #hasReply = false

  constructor() {
    explainTimeouts(this, () =>
      this.#hasReply
        ? undefined
        : 'No reply has arrived yet. Call clusterStore() in the primary before it forks.',
    )
  }

  /** Sends a message to the owner of a store, and returns the reply. Rejects with a `StoreError`. */
  async request(store: string, message: OwnerMessage): Promise<unknown> {
    if (!process.connected) throw gone({ unsent: true })
    const id = ++this.#sent
    const reply = new Promise<unknown>((resolve, reject) => this.#expect(id, { resolve, reject }))
    const request: ClusterRequest = { headgate: 'cluster-request', id, store, message }
    // Without a callback, `process` would emit an error, which would end it.
    process.send?.(request, undefined, undefined, (error) => {
      if (error === null) return
      const isClosed = 'code' in error && error.code === 'ERR_IPC_CHANNEL_CLOSED'
      this.#waiting.get(id)?.reject(gone({ unsent: isClosed, cause: error }))
    })
    try {
      return await this.#withTimeout(reply)
    } finally {
      this.#forget(id)
    }
  }

  #expect(id: number, waiting: Waiting): void {
    if (this.#waiting.size === 0) process.on('message', this.#onMessage).on('disconnect', this.#onDisconnect)
    this.#waiting.set(id, waiting)
  }

  #forget(id: number): void {
    if (!this.#waiting.delete(id) || this.#waiting.size > 0) return
    process.off('message', this.#onMessage).off('disconnect', this.#onDisconnect)
  }

  readonly #onMessage = (message: unknown, handle: unknown): void => {
    if (!isReply(message)) {
      if (process.listenerCount('message') === 1) this.#hold(message, handle)
      return
    }
    this.#hasReply = true
    this.#waiting.get(message.id)?.resolve(message.reply)
  }

  readonly #onDisconnect = (): void => {
    for (const { reject } of this.#waiting.values()) reject(gone({}))
  }

  /**
   * Keeps a message for the application until the application listens. Node.js does the same while there is
   * no listener (checked with 20.20 and 22.13).
   */
  #hold(message: unknown, handle: unknown): void {
    this.#held.push([message, handle])
    if (this.#held.length > 1) return
    const onListener = (event: string | symbol, listener: unknown): void => {
      if (event !== 'message' || listener === this.#onMessage) return
      process.off('newListener', onListener)
      process.nextTick(() => {
        for (const each of this.#held.splice(0)) process.emit('message', ...(each as [unknown, never]))
      })
    }
    process.on('newListener', onListener)
  }
}

function gone(facts: { readonly unsent?: boolean; readonly cause?: unknown }): StoreError {
  return new StoreError('cluster', 'the process that owns the counts is gone', facts)
}

/** The channel, which all copies of this package in the process share. */
export function ownerChannel(): OwnerChannel {
  return processWide('clusterChannel', () => new OwnerChannel())
}
