import type { LoggedEvent } from '../../dashboard/figures/logged-event.js'
import { InputError } from '../failures.js'
import type { EventSource } from './source.js'

/** What `followEvents` needs. */
export interface Following {
  open(): Promise<EventSource>
  /** Takes events that it has not had before. */
  onEvents(events: readonly LoggedEvent[]): void
  /** Called once for each outage of the store. */
  onFailure(error: InputError): void
  /** Waits before the next read. Resolves with false to end. */
  pause(): Promise<boolean>
}

/**
 * Reads events until `pause` resolves with false. If the store fails, reopens it until it is back: its log has the
 * events of that time. Rejects with an `InputError` if the store fails at first.
 */
export async function followEvents({ open, onEvents, onFailure, pause }: Following): Promise<void> {
  let source: EventSource | undefined = await open()
  let seen = new Set<string>()
  let isDown = false
  let isFirst = true
  do {
    try {
      source ??= await open()
      const events = await source.read()
      isDown = false
      const fresh = events.filter(({ id }) => !seen.has(id))
      if (fresh.length > 0) onEvents(fresh)
      // A store that has lost its log may get it back.
      if (events.length > 0) seen = new Set(events.map(({ id }) => id))
    } catch (error) {
      if (!(error instanceof InputError) || isFirst) throw error
      await source?.close().catch(() => undefined)
      source = undefined
      if (!isDown) onFailure(error)
      isDown = true
    }
    isFirst = false
  } while (await pause())
  await source?.close()
}
