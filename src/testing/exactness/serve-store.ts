import { inspect } from '../../platform.js'
import type { Unchecked } from '../../stores/shared/validate.js'
import type { Store } from '../../stores/store.js'
import { checkStore } from '../check-store.js'
import { chargeOne, forgetAll } from '../conformance/store-calls.js'
import { chargeOf, type Message, type Orders, type Request, type WireFigures } from './protocol.js'
import { runLoad } from './run-load.js'

/** How long a process may take to exit once its test is done, or has died. */
const EXIT_MS = 5000

/**
 * Serves a store to the tests of `storeExactness`, in a process that `startProcess` has started. Resolves
 * when the test is done. Then close what you opened for the store, so that the process exits. If it does not
 * exit within five seconds, it is ended.
 *
 * Throws a `TypeError` if `store` is not a store, and in a process without an IPC channel.
 */
export async function serveStore(store: Store): Promise<void> {
  const { process } = globalThis
  if (process?.send === undefined || !process.connected) {
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

async function serveOrder(store: Store, message: unknown): Promise<void> {
  if (!isRequest(message)) return // one of the user's own messages
  try {
    send({ headgate: 'reply', id: message.id, reply: await replyTo(message, store) })
  } catch (error) {
    send({ headgate: 'failure', text: inspect(error) })
  }
}

function isRequest(message: unknown): message is Request {
  const { headgate }: Unchecked<Request> = message ?? {}
  return headgate === 'load' || headgate === 'peek' || headgate === 'forget'
}

async function replyTo(request: Request, store: Store): Promise<Orders[Request['headgate']]['reply']> {
  switch (request.headgate) {
    case 'load':
      return runLoad(store, request.order)
    case 'peek': {
      const peeked = request.order.map((part) => ({ ...part, cost: 0 }))
      const { parts } = await chargeOne(store, ...chargeOf(peeked))
      return parts.map(({ remaining, moreAfterMs }): WireFigures => ({ remaining, moreAfterMs }))
    }
    case 'forget':
      await forgetAll(store, chargeOf(request.order))
      return null
  }
}

function send(message: Message): void {
  if (globalThis.process.connected) globalThis.process.send?.(message)
}
