import type { Request, Response } from 'express'
import { isClosed, onceFinished } from '../../http/response-end.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import type { CompatSettings } from './settings.js'

export interface Refundable {
  /** When the window that counted the hit ends, in milliseconds since the Unix epoch. */
  readonly endsAtMs: number | undefined
  refund(): MaybePromise<void>
}

/**
 * Refunds the hit of a request if `skipFailedRequests` or `skipSuccessfulRequests` says so: once the
 * response has finished, or, for failed requests, once the client has hung up. Either may have happened
 * while the hit was counted. A window that has ended keeps its hits.
 */
export function refundSkipped(
  { skipFailedRequests, skipSuccessfulRequests, requestWasSuccessful, logger }: CompatSettings,
  [req, res]: readonly [Request, Response, ...unknown[]],
  hit: Refundable,
): void {
  let isRefunded = false

  async function refund(): Promise<void> {
    if (isRefunded) return
    isRefunded = true
    if (hit.endsAtMs !== undefined && Date.now() >= hit.endsAtMs) return
    try {
      await hit.refund()
    } catch (error) {
      logger.error(error, 'rateLimit: the store failed to refund a hit.')
    }
  }

  async function onFinish(): Promise<void> {
    try {
      const succeeded = await requestWasSuccessful(req, res)
      if (succeeded ? skipSuccessfulRequests : skipFailedRequests) await refund()
    } catch (error) {
      logger.error(error, 'rateLimit: requestWasSuccessful failed.')
    }
  }

  /** Serverless hosts emit `close` inside `end()`, before `writableEnded` is true. */
  function onHangUp(): void {
    if (skipFailedRequests) queueMicrotask(() => !res.writableEnded && void refund())
  }

  if (res.writableFinished) void onFinish()
  else onceFinished(res, onFinish)
  if (isClosed(res)) onHangUp()
  else res.once('close', onHangUp)
  if (skipFailedRequests) res.once('error', refund)
}
