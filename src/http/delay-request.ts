import type { Decision } from '../limiter/decision.js'
import { catchMaybe, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import type { Delayer } from './delay.js'

/** How a request continues once its delay is known. Each is called for one decision. */
interface DelaySteps {
  report(): void
  pass(): boolean
  /** Denies the request, since too many others are delayed. */
  deny(delayMs: number): MaybePromise<boolean>
}

/**
 * Delays an allowed request as the option `delay` says. Returns whether it passes: not if its client hangs up
 * meanwhile, or if too many others are delayed. Reports one decision for each request, also if `delay` throws.
 */
export function delayRequest<Req, Res>(
  { delayOf, hold }: Delayer<Req, Res>,
  req: Req,
  res: Res,
  decision: Decision,
  { report, pass, deny }: DelaySteps,
): MaybePromise<boolean> {
  const delayMs = catchMaybe(
    () => delayOf(decision, req),
    (error) => {
      report()
      throw error
    },
  )
  return thenMaybe(delayMs, (forMs) => {
    const isConnected = forMs === 0 ? true : hold(res, decision, forMs)
    if (isConnected === undefined) return deny(forMs)
    report()
    return thenMaybe(isConnected, (isStillConnected) => isStillConnected && pass())
  })
}
