import type { ChildProcess } from 'node:child_process'
import type { Store } from 'headgate'
import { ownerStore, serveOperations } from 'headgate/store'

/** Creates the store of a process whose parent owns the states. */
export function parentStore(): Store {
  const waiting = new Map<number, (reply: unknown) => void>()
  let sent = 0
  process.on('message', ({ ownerId, reply }: { ownerId?: number; reply?: unknown }) => {
    if (ownerId === undefined) return // a question
    waiting.get(ownerId)?.(reply)
    waiting.delete(ownerId)
  })
  return ownerStore({
    name: 'parent',
    send: (message) =>
      new Promise((resolve) => {
        waiting.set(++sent, resolve)
        process.send?.({ ownerId: sent, message })
      }),
  })
}

/** Serves the states of `store` to the `parentStore` of a child. */
export function serveChild(child: ChildProcess, store: Store): void {
  const serve = serveOperations(store)
  child.on('message', async ({ ownerId, message }: { ownerId?: number; message?: unknown }) => {
    if (ownerId === undefined) return // an answer
    const reply = await serve(message)
    if (child.connected) child.send({ ownerId, reply })
  })
}
