import { denyRequest, type Respond } from '../http/deny-request.js'
import type { RequestSteps } from '../http/request-steps.js'
import { isHeard } from '../limiter/charge-limits.js'
import { type Decision, denyDisconnected, unchargedDecision } from '../limiter/decision.js'
import type { NamedPart } from '../limiter/receipt.js'
import { isIsolate } from '../platform.js'
import { messageOf } from '../stores/store-error.js'
import { inBackground } from '../util/background-timer.js'
import type { ServerTypes } from '../util/framework-types.js'
import { catchMaybe, ignoreRejection, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { warnOnce } from '../util/warn-once.js'
import { clientHash } from './client-hash.js'
import type { OverloadWriter } from './first-byte.js'
import { guardDecision } from './guard-decision.js'
import { type OverloadOptions, readPriority, readTenant } from './options.js'
import { type PlaceKeeper, RequestPlace } from './place.js'
import type { ProcessGuard } from './process-guard.js'
import { RouteClasses } from './route-class.js'
import { LONGEST_MS } from './unanswered.js'
import { addWatcher, hasPassed } from './watchers.js'

/** What a guard needs for its requests. */
export interface Guarded<Req extends object, Res> {
  readonly guard: ProcessGuard
  readonly writer: OverloadWriter<Res>
  readonly options: OverloadOptions<ServerTypes<Req, Res>>
  readonly steps: RequestSteps<Req, Res>
}

/** Returns whether a request passes: at once, or after it has waited for a place. */
export type Enter<Req, Res> = (req: Req, res: Res, onDenied: Respond | undefined) => MaybePromise<boolean>

/**
 * Creates the function that lets requests pass if there is a place. A request holds its place until the first
 * byte of its response, or until its client leaves.
 *
 * The client is read only if it can change the verdict, or if somebody hears of the decision. All other requests
 * get no decision, since that would take longer than to make it.
 */
export function guardRequests<Req extends object, Res>({
  guard,
  writer,
  options,
  steps,
}: Guarded<Req, Res>): Enter<Req, Res> {
  const { limiter, stepped, modeSwitch } = steps
  const { resolveParts } = stepped.core.limits
  type Entering = RequestPlace<Req, Res>
  const classes = new RouteClasses()
  const keeper: PlaceKeeper<Req, Res> = { begin, leave }

  function enter(req: Req, res: Res, onDenied: Respond | undefined): MaybePromise<boolean> {
    const watchers = writer.watchersOf(req, res)
    if (hasPassed(watchers, keeper)) return true
    const priority = readPriority(options.priority, req)
    const tenant = readTenant(options.tenant, req)
    const place = new RequestPlace(keeper, req, res, onDenied, priority, tenant)
    addWatcher(watchers, place)
    if (watchers.isGone) leave(place)
    if (place.isGone) return turnAway(place)
    if (!guard.readsClients && !isHeard(limiter.events)) return offer(place)
    return withParts(place, ([part]) => {
      place.client = clientHash(part?.identity ?? '')
      return place.isGone ? turnAway(place) : offer(place)
    })
  }

  /** Calls `use` with the parts of a decision, unless the client of the request has left before it was known. */
  function withParts(
    place: Entering,
    use: (parts: readonly NamedPart[]) => MaybePromise<boolean>,
  ): MaybePromise<boolean> {
    if (place.parts !== undefined) return use(place.parts)
    const parts = catchMaybe<readonly NamedPart[] | Decision>(
      () => resolveParts(place.req, 1),
      (error) => denyDisconnected(error),
    )
    return thenMaybe(parts, (found) => {
      if ('source' in found) return turnAway(place)
      place.parts = found
      return use(found)
    })
  }

  function offer(place: Entering): MaybePromise<boolean> {
    const verdict = guard.offerRequest(place)
    if (verdict === 'admitted') return admit(place)
    if (verdict === 'denied') return denyOverload(place)
    const settled = new Promise<boolean>((resolve) => {
      place.onSettled = resolve
    })
    if (modeSwitch.mode === 'report') return passWaiting(place, settled)
    return settled.then((isAdmitted) => afterWait(place, isAdmitted))
  }

  function afterWait(place: Entering, isAdmitted: boolean): MaybePromise<boolean> {
    if (place.isGone) return turnAway(place)
    guard.settled(isAdmitted)
    return isAdmitted ? admit(place) : denyOverload(place)
  }

  /**
   * In report mode, no request waits. What would have happened is reported when it would have happened, or once
   * the response begins. Such a request has no latency that could be compared.
   */
  function passWaiting(place: Entering, settled: Promise<boolean>): true {
    place.hasPassed = true
    place.isSample = false
    const reported = settled.then((isAdmitted) => {
      if (place.isGone) return false
      guard.settled(isAdmitted)
      return withParts(place, (parts) => {
        report(place, guardDecision(guard, isAdmitted, parts))
        return true
      })
    })
    ignoreRejection(reported) // of a key function: the request has passed
    return true
  }

  function admit(place: Entering): MaybePromise<boolean> {
    if (!isHeard(limiter.events)) return pass(place)
    return withParts(place, (parts) => {
      report(place, guardDecision(guard, true, parts))
      return pass(place)
    })
  }

  function pass(place: Entering): MaybePromise<boolean> {
    if (place.isGone) return turnAway(place)
    place.hasPassed = true
    return true
  }

  /**
   * Ends a request whose client has left. That is no decision: the guard has not denied it. In report mode, it
   * passes, as it would without a guard.
   */
  function turnAway(place: Entering): MaybePromise<boolean> {
    const { req, res, onDenied } = place
    if (modeSwitch.mode !== 'report')
      return denyRequest(steps, req, res, onDenied, unchargedDecision('fail-closed'))
    place.hasPassed = true
    return true
  }

  function report({ req }: Entering, decision: Decision): void {
    stepped.report(decision, req)
  }

  function denyOverload(place: Entering): MaybePromise<boolean> {
    return withParts(place, (parts) => deny(place, guardDecision(guard, false, parts)))
  }

  function deny(place: Entering, decision: Decision): MaybePromise<boolean> {
    const { req, res, onDenied } = place
    stepped.report(decision, req)
    if (modeSwitch.mode === 'report') {
      place.hasPassed = true
      return true
    }
    writer.recordDecision(req, limiter, decision)
    return denyRequest(steps, req, res, onDenied, decision)
  }

  /** A response is about to be sent, or its client has left: it is too late for an error. */
  function classOf({ req, res }: Entering): string {
    try {
      if (options.routeClass !== undefined) return options.routeClass(req, res)
    } catch (error) {
      warnOnce('HEADGATE_ROUTE_CLASS_FAILED', `headgate: routeClass failed (${messageOf(error)}).`)
    }
    return classes.of(req, writer.statusOf(res))
  }

  /**
   * Takes the place of a request back whose response begins. One that waits has been responded to by somebody
   * else, such as a time-out, unless the guard lets it pass meanwhile.
   */
  function begin(place: Entering): void {
    if (place.isGone) {
      giveBack(place)
      return
    }
    const isWaiting = place.state === 'waiting'
    if (isWaiting && !place.hasPassed) {
      leave(place)
      return
    }
    place.hasBegun = true
    if (place.state === 'over') return
    guard.end(place, classOf(place), place.isSample)
    if (isWaiting) place.settle(true)
  }

  /**
   * The client of a request has left. What its handler has begun goes on, and loads the server: other requests in
   * its place would be too many. A handler that does not end the response has the place for as long again as it
   * had run by then, and for a minute at most. On isolates, it ends with its request, and no timer runs between requests.
   */
  function leave(place: Entering): void {
    if (place.isGone) return
    place.isGone = true
    if (place.state === 'over') return
    const routeClass = classOf(place)
    place.isSample &&= guard.isSlow(place, routeClass)
    if (place.state === 'running' && place.hasPassed && !isIsolate()) {
      const timer = inBackground(setTimeout(giveBack, Math.min(guard.ranMs(place), LONGEST_MS), place))
      place.left = { routeClass, timer }
      return
    }
    guard.end(place, routeClass, place.isSample)
    place.settle(false)
  }

  /** Takes the place of a request back whose client left while its handler ran. */
  function giveBack(place: Entering): void {
    const { left } = place
    if (left === undefined) return
    place.left = undefined
    clearTimeout(left.timer)
    guard.end(place, left.routeClass, place.isSample)
  }

  return enter
}
