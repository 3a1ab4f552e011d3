import type { LoggableEvent } from './event-log.js'
import type { Member } from './fleet.js'
import type { ProcessHeader } from './process-document.js'

type Header = Pick<ProcessHeader, 'id' | 'host' | 'pid' | 'version' | 'dashboard'>

/** Returns the name of a process in sentences. */
export function processName({ host, pid }: Pick<ProcessHeader, 'host' | 'pid'>): string {
  return `${host} (pid ${pid})`
}

/** Returns the event that a process has begun to report, or was closed. */
export function processEvent(
  kind: 'process-seen' | 'process-closed',
  header: Header,
  atMs: number,
): LoggableEvent {
  const what = kind === 'process-seen' ? 'started to report' : 'was closed'
  return eventOf(kind, header, atMs, `${processName(header)} ${what}`)
}

/** Returns the event that a process has vanished: the same one in all processes that notice it. */
export function goneEvent({ header, lastSeenMs }: Member, nowMs: number): LoggableEvent {
  const text = `${processName(header)} has not reported since {${lastSeenMs}}, and was not closed`
  return eventOf('process-gone', header, nowMs, text)
}

function eventOf(kind: LoggableEvent['kind'], header: Header, atMs: number, text: string): LoggableEvent {
  const { id, dashboard, host, pid, version } = header
  return {
    id: `${kind}:${id}:${dashboard}`,
    atMs,
    kind,
    text,
    details: { process: id, host, pid, version },
  }
}
