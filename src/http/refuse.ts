import type { IncomingMessage, ServerResponse } from 'node:http'
import { headerOf } from '../keys/key.js'
import { abort } from './connection.js'
import { type DenialReason, denialBody, type Told } from './denial-body.js'
import type { HeaderList } from './headers.js'
import { send } from './respond.js'

/**
 * Answers a request that does not go on, or aborts its response where somebody else has sent the headers.
 * Always false.
 */
export function refuse(
  req: IncomingMessage,
  res: ServerResponse,
  reason: DenialReason,
  status: number,
  headers: HeaderList = [],
  told?: Told,
): false {
  if (res.headersSent) return abort(res)
  return send(res, status, headers, denialBody(reason, status, told, headerOf(req, 'accept')))
}
