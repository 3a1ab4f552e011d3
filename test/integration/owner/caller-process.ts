/** Serves a store to the tests of exactness, whose states live in the parent process. */
import { ownerStore } from 'headgate/store'
import { serveStore } from 'headgate/testing'

const waiting = new Map<number, (reply: unknown) => void>()
let sent = 0

process.on('message', ({ ownerReply, reply }: { ownerReply?: number; reply?: unknown }) => {
  if (ownerReply === undefined) return
  waiting.get(ownerReply)?.(reply)
  waiting.delete(ownerReply)
})

await serveStore(
  ownerStore({
    name: 'parent',
    send: (message) =>
      new Promise((resolve) => {
        waiting.set(++sent, resolve)
        process.send?.({ ownerRequest: sent, message })
      }),
  }),
)
