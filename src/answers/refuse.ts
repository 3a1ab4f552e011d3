import type { IncomingMessage, ServerResponse } from 'node:http'
import { headerOf } from '../keys/key.js'
import { type DenialReason, denialBody, type Told } from './denial.js'
import type { HeaderList } from './headers.js'
import { send } from './respond.js'

/** Answers a request that does not go on, unless it has been answered already. Always false. */
export function refuse(
  req: IncomingMessage,
  res: ServerResponse,
  reason: DenialReason,
  status: number,
  headers: HeaderList = [],
  told?: Told,
): false {
  if (res.headersSent) return false
  return send(res, status, headers, denialBody(reason, status, told, headerOf(req, 'accept')))
}
