/**
 * Owns the states of another process. Each message is a request of a test: to open a new store, to advance
 * its clock, or to apply operations to it.
 */
import { memoryStore } from 'headgate'
import { customStore, type Store, serveOperations } from 'headgate/store'
import { manualClock } from 'headgate/testing'

/** What a test sends, and what it gets back. */
export interface OwnerRequest {
  readonly id: number
  readonly open?: true
  readonly advanceMs?: number
  readonly message?: unknown
}

let clock = manualClock()
let serve = serveOperations(memoryStore({ clock }))

const failing: Store = customStore({
  name: 'failing',
  apply: () => Promise.reject(new Error('the owner is broken')),
})
const serveFailing = serveOperations(failing)

process.on('message', async ({ id, open, advanceMs, message }: OwnerRequest) => {
  if (open) {
    clock = manualClock()
    serve = serveOperations(memoryStore({ clock, maxKeys: 20_000 }))
  }
  if (advanceMs !== undefined) clock.advance(advanceMs)
  if (message === 'exit') process.exit(0)
  const serveThis = JSON.stringify(message ?? '').includes('broken') ? serveFailing : serve
  process.send?.({ id, reply: message === undefined ? undefined : await serveThis(message) })
})
process.once('disconnect', () => process.exit())
process.send?.({ id: 0 })
