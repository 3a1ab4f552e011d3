import { inspect } from 'node:util'
import type { Store } from '../../stores/store.js'
import { checkStore } from '../check-store.js'
import { chargeOne, forgetAll } from '../conformance/store-calls.js'
import { chargeOf, type Message, type Orders, type Request, type WireFigures } from './protocol.js'
import { runLoad } from './run-load.js'

/** How long a process may take to exit once its test is done, or has died. */
const EXIT_MS = 5000

/**
 * Serves a store to the tests of `storeExactness`, in a process that its `startProcess` has started.
 * Resolves when the test is done with it: close then what you opened for the store, so that the process
 * exits. One that does not exit is ended.
 *
 * Throws a `TypeError` for what is no store, and in a process without an IPC channel.
 */
export async function serveStore(store: Store): Promise<void> {
  if (process.send === undefined || !process.connected) {
    const fix = 'Start it with fork() of node:child_process.'
    throw new TypeError(`serveStore: this process has no IPC channel to a test. ${fix}`)
  }
  checkStore('serveStore', store)
  const onMessage = (message: unknown) => void serveOrder(store, message)
  const onCrash = (error: unknown) => send({ headgate: 'failure', text: inspect(error) })
  const ended = new Promise<void>((resolve) => process.once('disconnect', resolve))
  process.on('message', onMessage).on('uncaughtExceptionMonitor', onCrash)
  send({ headgate: 'ready' })
  await ended
  setTimeout(() => process.exit(), EXIT_MS).unref()
  process.off('message', onMessage).off('uncaughtExceptionMonitor', onCrash)
}

const SERVED: {
  [N in keyof Orders]: (store: Store, order: Orders[N]['order']) => Promise<Orders[N]['reply']>
} = {
  load: runLoad,
  async peek(store, parts) {
    const { parts: shown } = await chargeOne(store, ...chargeOf(parts.map((part) => ({ ...part, cost: 0 }))))
    return shown.map(({ remaining, moreAfterMs }): WireFigures => ({ remaining, moreAfterMs }))
  },
  async forget(store, parts) {
    await forgetAll(store, chargeOf(parts))
    return null
  },
}

async function serveOrder(store: Store, message: unknown): Promise<void> {
  const { headgate, id, order } = (message ?? {}) as Request
  if (!Object.hasOwn(SERVED, headgate ?? '')) return // a message of the user's own
  const serve = SERVED[headgate] as (store: Store, order: unknown) => Promise<unknown>
  try {
    send({ headgate: 'reply', id, reply: await serve(store, order) })
  } catch (error) {
    send({ headgate: 'failure', text: inspect(error) })
  }
}

function send(message: Message): void {
  if (process.connected) process.send?.(message)
}
