import type { Place } from './place.js'
import type { ProcessGuard } from './process-guard.js'

/** The class of calls and charges, whose latencies are compared with one another. */
export const CALLS = 'calls'

/**
 * Lets a call run that would wait if the guard were not in report mode. Calls `report` with the verdict when
 * the guard decides, or when the call ends before that. The latency of such a call is not comparable,
 * because it runs without a place.
 */
export function reportWait(guard: ProcessGuard, place: Place, report: (isAdmitted: boolean) => void): void {
  void place.wait().then((isAdmitted) => {
    guard.recordVerdict(isAdmitted)
    report(isAdmitted)
  })
}

/** Ends a call. One that ends while it would still wait needs no place any more, and counts as admitted. */
export function endCall(guard: ProcessGuard, place: Place, routeClass: string, isSample: boolean): void {
  const isWaiting = place.state === 'waiting'
  guard.end(place, routeClass, isSample)
  if (isWaiting) place.settle(true)
}
