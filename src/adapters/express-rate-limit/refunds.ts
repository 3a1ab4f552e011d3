import type { Request, Response } from 'express'
import { isClosed } from '../../http/respond.js'
import { Hit } from './hit-counter.js'
import type { Settings } from './settings.js'
import type { IncrementResponse } from './types.js'

/**
 * Takes the hit of a request back where `skipFailedRequests` or `skipSuccessfulRequests` says so: once the
 * response has finished, or, for failed requests, once the client has hung up. A window that has ended
 * keeps its hits.
 */
export function refundSkipped(
  { skipFailedRequests, skipSuccessfulRequests, requestWasSuccessful, store, logger }: Settings,
  [req, res]: readonly [Request, Response, ...unknown[]],
  key: string,
  hit: IncrementResponse,
): void {
  if (!skipFailedRequests && !skipSuccessfulRequests) return
  const endsAtMs = hit.resetTime?.getTime() // now: stores may change the object later
  let isRefunded = false

  async function refund(): Promise<void> {
    if (isRefunded) return
    isRefunded = true
    if (endsAtMs !== undefined && Date.now() >= endsAtMs) return
    try {
      await (hit instanceof Hit ? hit.refund() : store.decrement(key))
    } catch (error) {
      logger.error(error, 'rateLimit: the store failed to take a hit back.')
    }
  }

  async function onFinish(): Promise<void> {
    if (!res.writableEnded) return // HTTP/2 emits it for a client that hung up, too
    try {
      const succeeded = await requestWasSuccessful(req, res)
      if (succeeded ? skipSuccessfulRequests : skipFailedRequests) await refund()
    } catch (error) {
      logger.error(error, 'rateLimit: requestWasSuccessful failed.')
    }
  }

  res.once('finish', onFinish)
  if (!skipFailedRequests) return
  res.once('error', refund)
  if (isClosed(res)) void refund()
  else res.once('close', () => void (res.writableEnded || refund()))
}
