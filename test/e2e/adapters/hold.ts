import http from 'node:http'
import type { Sent } from '../../support/http.js'
import type { Running } from './application.js'
import { signalsAt } from './signals.js'

/**
 * Sends a request, and resolves once the server holds it and has counted `held`. Returns a function that
 * ends the connection, and waits until the server knows.
 */
export async function sendAndHold(
  { port, signalPort }: Running,
  held: string,
  { method = 'GET', path = '/', headers = {}, body }: Sent,
): Promise<() => Promise<void>> {
  const signals = signalsAt(signalPort)
  const closed = `closed ${path}`
  const [heldBefore, closedBefore] = [await signals.countOf(held), await signals.countOf(closed)]
  const req = http.request({ host: '::1', port, method, path, headers, agent: false })
  req.on('error', () => undefined).end(body)
  await signals.countOf(held, heldBefore + 1)
  return async function hangUp(): Promise<void> {
    req.destroy()
    await signals.countOf(closed, closedBefore + 1)
  }
}
