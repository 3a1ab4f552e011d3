import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Decision } from 'headgate'

/** A real request and response that no socket carries, for what must happen in the same tick. */
export function exchange(method = 'GET'): {
  req: IncomingMessage & { rateLimit?: Decision }
  res: ServerResponse
} {
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: '192.0.2.1' })
  const req = new IncomingMessage(socket)
  req.method = method
  return { req, res: new ServerResponse(req) }
}

/** Waits for one turn of the event loop, in which all promise callbacks that are due have run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
