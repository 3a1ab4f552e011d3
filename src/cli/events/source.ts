import type { LoggedEvent } from '../../dashboard/figures/logged-event.js'
import { eventLog } from '../../dashboard/shared/event-log.js'
import type { Documents } from '../../stores/documents.js'
import { messageOf } from '../../stores/store-error.js'
import { timeout } from '../../util/timeout.js'
import { InputError } from '../failures.js'
import { connectStore } from '../keys/connection.js'
import { loadStore } from '../load-store.js'
import type { EventSettings } from './arguments.js'

const TIMEOUT_MS = 5000

/** Where events are read. What fails rejects with an `InputError`. */
export interface EventSource {
  /** Returns the events that the store has, the oldest first. */
  read(): Promise<readonly LoggedEvent[]>
  close(): Promise<void>
}

/** Opens the store that holds events. */
export async function openEvents({ store, prefix }: EventSettings, folder: string): Promise<EventSource> {
  if (typeof store !== 'string') {
    const connection = await connectStore(store, folder)
    return sourceIn(connection.documents, prefix, async () => connection.close())
  }
  const loaded = await loadStore('events', store)
  const { documents } = loaded
  if (documents !== undefined) return sourceIn(documents, prefix, async () => loaded.close?.())
  throw new InputError(`the store in ${store} has no documents, so it has no events`)
}

function sourceIn(documents: Documents, prefix: string, close: () => Promise<void>): EventSource {
  const log = eventLog(documents, prefix)
  const within = timeout(TIMEOUT_MS)
  return {
    async read() {
      try {
        await within(log.read())
        return log.events()
      } catch (error) {
        throw error instanceof InputError ? error : new InputError(`cannot read events: ${messageOf(error)}`)
      }
    },
    close,
  }
}
