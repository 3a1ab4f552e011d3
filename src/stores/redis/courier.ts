import { StoreError } from '../../errors.js'

/** A command for the place where its keys live. */
export interface Command {
  readonly place: number
  readonly words: readonly [name: string, ...args: string[]]
}

/** Brings commands to the server, or to the servers of a Cluster, that they are for. */
export interface Courier {
  /** Where a key lives: the keys of one command must share a place. Absent where there is only one, which is 0. */
  readonly placeOf?: (key: string) => number
  /** Sends commands, those for one place in their order, and gives a promise of the reply to each. */
  send(commands: readonly Command[]): Promise<unknown>[]
}

/** What went wrong with a command, as callers of the store are told. */
export function asStoreError(cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause
  return new StoreError('redis', cause instanceof Error ? cause.message : 'the command failed', { cause })
}

/** Until a client is ready for the first time, its commands may wait for that. */
const STARTING = ['wait', 'connecting', 'connect']

/**
 * Watches over a client's connection. Throws a `StoreError` while the client is not connected, so that a request does not
 * wait in the client's queue for a connection that may come back long after the request is gone.
 */
export function connectionWatch(client: { readonly status: string }): () => void {
  let isStarting = true
  return () => {
    const { status } = client
    isStarting &&= STARTING.includes(status)
    if (status === 'ready' || isStarting) return
    throw new StoreError('redis', `the client is not connected (${status})`)
  }
}
