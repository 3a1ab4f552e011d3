import type { LoggedEvent } from '../figures/logged-event.js'
import type { ActionFigures } from './settings-actions.js'

/** An action that only the event log records, and its response, which the event has. */
interface LoggedAction {
  /** The `id` of its event, which all processes share. */
  readonly eventId: string
  act(): Promise<object>
  responseOf(details: LoggedEvent['details']): object
}

/**
 * Creates what carries out each action once: one that is sent again, because its outcome was unknown, has the `id` of
 * an event, or is still running. The log keeps the last 1,000 events.
 */
export function onceLogged(figures: ActionFigures): (action: LoggedAction) => Promise<object> {
  const running = new Map<string, Promise<object>>()

  async function start({ eventId, act, responseOf }: LoggedAction): Promise<object> {
    const made = (await figures.asOfNow()).events().find(({ id }) => id === eventId)
    return made === undefined ? act() : responseOf(made.details)
  }

  return (action) => {
    const { eventId } = action
    const started = running.get(eventId) ?? start(action).finally(() => running.delete(eventId))
    running.set(eventId, started)
    return started
  }
}
