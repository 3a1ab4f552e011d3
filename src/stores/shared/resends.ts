import { processWide } from '../../util/process-wide.js'

/** When the server of a client first rejected calls, by `performance.now()`. */
const resentAt = processWide('resends', () => new WeakMap<object, number>())

/**
 * Records that the server of a client has rejected calls that it did not run, because it takes them only in
 * another form. They are sent again in that form, as all later ones are.
 */
export function recordResend(client: object): void {
  if (!resentAt.has(client)) resentAt.set(client, performance.now())
}

/** Returns when the calls of a client were sent again; `undefined` if they never were. */
export function resentAtMs(client: object | undefined): number | undefined {
  return client && resentAt.get(client)
}
