import type { LoggedEvent } from '../../dashboard/figures/logged-event.js'
import { escapeUnprintable } from '../../util/printable.js'
import { parseEventArguments } from './arguments.js'
import { followEvents } from './follow.js'
import { openEvents } from './source.js'

/** How often a store is read for new events. */
const EVERY_MS = 1000

/** Runs `headgate events`. Returns what it prints, unless it follows. */
export async function eventsCommand(args: readonly string[]): Promise<string> {
  const settings = parseEventArguments(args, process.env)
  const folder = process.cwd()
  const { stdout, stderr } = process
  const isWanted = ({ limiter }: LoggedEvent) =>
    settings.limiter === undefined || limiter === settings.limiter
  const textOf = (events: readonly LoggedEvent[]) => events.filter(isWanted).map(lineOf).join('')
  if (!settings.follow) {
    const source = await openEvents(settings, folder)
    try {
      return textOf(await source.read())
    } finally {
      await source.close()
    }
  }
  let isRead = true
  stdout.on('error', () => {
    isRead = false // the reader of the pipe has closed it
  })
  await followEvents({
    open: () => openEvents(settings, folder),
    onEvents: (events) => void stdout.write(textOf(events)),
    onFailure: ({ message }) =>
      void stderr.write(`headgate: ${escapeUnprintable(message)} (waiting until the store is back)\n`),
    async pause() {
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
      return isRead
    },
  })
  return ''
}

function lineOf(event: LoggedEvent): string {
  const { id, atMs, kind, text, limiter, by, reason, details } = event
  const line = JSON.stringify({
    at: new Date(atMs).toISOString(),
    kind,
    text,
    limiter,
    by,
    reason,
    details,
    id,
  })
  return `${escapeUnprintable(line)}\n`
}
