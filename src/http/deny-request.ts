import { headerOf } from '../keys/request.js'
import type { Decision } from '../limiter/decision.js'
import { catchMaybe, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import type { DenialFigures } from './denial-body.js'
import { removeEarlier } from './earlier-headers.js'
import { denialHeaders } from './headers.js'
import { presetDenial } from './preset-denial.js'
import { type DenialSettings, denialResponse, statusOf } from './response-parts.js'
import type { DenialResponse, ResponseWriter } from './response-writer.js'

/**
 * Responds to a denied request, after its status and headers have been set. `withdraw` removes them if the
 * request goes on to the next handler.
 */
export type Respond = (decision: Decision, withdraw: () => void) => unknown

/** A `Respond` returns this, or resolves with it, to have `deny` send the default response. */
export const SEND_DEFAULT = Symbol('send the default response')

/** Creates the functions that respond to denied requests: through the application, or with the default. */
export function denier<Req extends object, Res>(
  settings: DenialSettings,
  writer: ResponseWriter<Res>,
  denialFigures: ((decision: Decision) => DenialFigures) | undefined,
) {
  function deny(req: Req, res: Res, onDenied: Respond | undefined, decision: Decision): MaybePromise<false> {
    const isLimited = decision.source !== 'fail-closed' && decision.source !== 'blocked'
    const figures = (isLimited && denialFigures?.(decision)) || decision
    if (isLimited && onDenied !== undefined && !writer.areHeadersSent(res)) {
      const responded = respondAsApp(res, figures, (withdraw) => onDenied(decision, withdraw))
      return thenMaybe(
        responded,
        (result) => result === SEND_DEFAULT && sendDenial(req, res, decision, figures),
      )
    }
    return sendDenial(req, res, decision, figures)
  }

  function sendDenial(req: Req, res: Res, decision: Decision, figures: DenialFigures): false {
    return send(res, denialResponse(decision, figures, settings, headerOf(req, 'accept')), figures)
  }

  /**
   * Lets the application respond. Presets the status of a denial, and restores the earlier one if it throws.
   */
  function respondAsApp(
    res: Res,
    figures: DenialFigures,
    onDenial: (withdraw: () => void) => unknown,
  ): MaybePromise<unknown> {
    const { withdraw, restoreStatus } = presetDenial(
      writer,
      res,
      statusOf(settings, figures),
      denialHeaders(figures),
    )
    return catchMaybe(
      () => onDenial(withdraw),
      (error) => {
        restoreStatus()
        throw error
      },
    )
  }

  /** Sends the denial. If the application has already sent headers, aborts its response instead. */
  function send(res: Res, response: DenialResponse, figures?: DenialFigures): false {
    if (writer.areHeadersSent(res)) {
      writer.abort(res)
      return false
    }
    removeEarlier(writer, res)
    writer.send(res, response, figures)
    return false
  }

  return { deny, send }
}
