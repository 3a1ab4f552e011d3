import { processWide } from '../util/process-wide.js'

/** Returns why calls of a client may be timing out now, and the fix; `undefined` if it shows no reason. */
export type ExplainTimeout = () => string | undefined

/** What a store has noted about its client. Its pipes read it, since they do not know the client. */
interface ClientNotes {
  explainTimeout?: ExplainTimeout
  /** When its server first rejected calls, by `performance.now()`. */
  resentAtMs?: number
}

const notesByClient = processWide('clientNotes', () => new WeakMap<object, ClientNotes>())

function notesOf(client: object): ClientNotes {
  const notes = notesByClient.get(client) ?? {}
  notesByClient.set(client, notes)
  return notes
}

/** Sets the function that explains the time-outs of a client. */
export function explainTimeouts(client: object, explain: ExplainTimeout): void {
  notesOf(client).explainTimeout = explain
}

/** Returns why calls of a client may be timing out now, if it shows that. */
export function whyTimedOut(client: object | undefined): string | undefined {
  return client && notesByClient.get(client)?.explainTimeout?.()
}

/**
 * Records that the server of a client has rejected calls without running them, because it accepts them only
 * in another form. The store sends them again in that form, as it does all later calls.
 */
export function recordResend(client: object): void {
  notesOf(client).resentAtMs ??= performance.now()
}

/** Returns when calls of a client were first sent again; `undefined` if none were. */
export function resentAtMs(client: object | undefined): number | undefined {
  return client && notesByClient.get(client)?.resentAtMs
}
