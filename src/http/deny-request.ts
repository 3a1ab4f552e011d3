import { headerOf } from '../keys/request.js'
import type { Decision } from '../limiter/decision.js'
import { catchMaybe, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import type { DenialFigures } from './denial-body.js'
import { type DenialSettings, denialResponse, statusOf } from './denial-response.js'
import { presetDenial, removeEarlier } from './preset-denial.js'
import { denialHeaders } from './quota-headers.js'
import type { DenialResponse, ResponseWriter } from './response-writer.js'

/**
 * Responds to a denied request, after its status and headers have been set. `withdraw` removes them if the
 * request goes on to the next handler.
 */
export type Respond = (decision: Decision, withdraw: () => void) => unknown

/** A `Respond` returns this, or resolves with it, to have `deny` send the default response. */
export const SEND_DEFAULT = Symbol('send the default response')

/** What a limiter needs to respond to denied requests. */
export interface Denier<Res> {
  readonly writer: ResponseWriter<Res>
  readonly denial: DenialSettings
  /** Returns the figures for the response to a request over its limit. Default: those of its decision. */
  readonly denialFigures: ((decision: Decision) => DenialFigures) | undefined
}

/** Responds to a denied request. */
export function denyRequest<Req extends object, Res>(
  denier: Denier<Res>,
  req: Req,
  res: Res,
  onDenied: Respond | undefined,
  decision: Decision,
): MaybePromise<false> {
  const { writer, denial, denialFigures } = denier
  const isOverLimit = decision.source !== 'fail-closed' && decision.source !== 'blocked'
  const figures = (isOverLimit && denialFigures?.(decision)) || decision
  const sendDefault = () =>
    sendDenial(denier, res, denialResponse(decision, figures, denial, headerOf(req, 'accept')), figures)
  if (!isOverLimit || onDenied === undefined || writer.areHeadersSent(res)) return sendDefault()
  const responded = respondAsApp(denier, res, decision.source, figures, (withdraw) =>
    onDenied(decision, withdraw),
  )
  return thenMaybe(responded, (result) => result === SEND_DEFAULT && sendDefault())
}

/**
 * Lets the application respond, with the status and headers of a denial already set. If it throws, restores
 * the earlier status.
 */
function respondAsApp<Res>(
  { writer, denial }: Denier<Res>,
  res: Res,
  source: Decision['source'],
  figures: DenialFigures,
  onDenial: (withdraw: () => void) => unknown,
): MaybePromise<unknown> {
  const status = statusOf(denial, source, figures)
  const { withdraw, restoreStatus } = presetDenial(writer, res, status, denialHeaders(figures))
  return catchMaybe(
    () => onDenial(withdraw),
    (error) => {
      restoreStatus()
      throw error
    },
  )
}

/** Sends a denial. If the application has already sent headers, aborts its response instead. */
export function sendDenial<Res>(
  { writer }: Denier<Res>,
  res: Res,
  response: DenialResponse,
  figures?: DenialFigures,
): false {
  if (writer.areHeadersSent(res)) {
    writer.abort(res)
    return false
  }
  removeEarlier(writer, res)
  writer.send(res, response, figures)
  return false
}
