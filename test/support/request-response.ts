import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Decision } from 'headgate'

/** A real request and response that no socket carries, for what must happen in the same tick. */
export function requestAndResponse(method = 'GET'): {
  req: IncomingMessage & { rateLimit?: Decision }
  res: ServerResponse
} {
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: '192.0.2.1' })
  const req = new IncomingMessage(socket)
  req.method = method
  return { req, res: new ServerResponse(req) }
}
