import { denyRequest, type Respond } from '../http/deny-request.js'
import type { RequestSteps } from '../http/request-steps.js'
import { isHeard } from '../limiter/charge-limits.js'
import { type Decision, denyDisconnected, unchargedDecision } from '../limiter/decision.js'
import type { NamedPart } from '../limiter/receipt.js'
import type { ServerTypes } from '../util/framework-types.js'
import { catchMaybe, ignoreRejection, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { clientHash } from './client-hash.js'
import type { OverloadWriter } from './first-byte.js'
import { guardDecision } from './guard-decision.js'
import { readPriority, readTenant } from './option-functions.js'
import type { OverloadOptions } from './options.js'
import { RequestPlace } from './place.js'
import type { ProcessGuard } from './process-guard.js'
import { RequestPlaces } from './request-places.js'
import { addWatcher, hasPassed } from './watchers.js'

/** What a guard needs for its requests. */
export interface Guarded<Req extends object, Res> {
  readonly guard: ProcessGuard
  readonly writer: OverloadWriter<Res>
  readonly options: OverloadOptions<ServerTypes<Req, Res>>
  readonly steps: RequestSteps<Req, Res>
}

/**
 * Lets requests pass if there is a place. A request holds its place until the first byte of its response. If
 * its client leaves before, its handler holds it for a while.
 *
 * The client is read only if it can change the verdict, or if somebody hears of the decision. All other
 * requests get no decision, since that would take longer than to make it. The first client is always read,
 * so that a key function that fails does not do so only under overload.
 */
export class RequestGuard<Req extends object, Res> {
  readonly #guard: ProcessGuard
  readonly #writer: OverloadWriter<Res>
  readonly #options: OverloadOptions<ServerTypes<Req, Res>>
  readonly #steps: RequestSteps<Req, Res>
  readonly #places: RequestPlaces<Req, Res>
  #hasReadClient = false

  constructor({ guard, writer, options, steps }: Guarded<Req, Res>) {
    this.#guard = guard
    this.#writer = writer
    this.#options = options
    this.#steps = steps
    this.#places = new RequestPlaces(guard, writer, options)
  }

  /** Returns whether a request passes: at once, or after it has waited for a place. */
  enter(req: Req, res: Res, onDenied: Respond | undefined): MaybePromise<boolean> {
    const watchers = this.#writer.watchersOf(req, res)
    if (hasPassed(watchers, this.#places)) return true
    const priority = readPriority(this.#options.priority, req)
    const tenant = readTenant(this.#options.tenant, req)
    const place = new RequestPlace(this.#places, req, res, onDenied, priority, tenant)
    place.onNoResponse = watchers.onNoResponse
    addWatcher(watchers, place)
    if (watchers.isGone) place.leave()
    if (place.isGone) return this.#turnAway(place)
    if (!this.#guard.readsClients && !this.#isHeard && this.#hasReadClient) return this.#offer(place)
    return this.#withParts(place, ([part]) => {
      place.client = clientHash(part?.identity ?? '')
      return place.isGone ? this.#turnAway(place) : this.#offer(place)
    })
  }

  #offer(place: RequestPlace<Req, Res>): MaybePromise<boolean> {
    const verdict = this.#guard.offerRequest(place)
    if (verdict === 'admitted') {
      this.#places.start(place)
      return this.#admit(place)
    }
    if (verdict === 'denied') return this.#deny(place)
    const settled = place.wait()
    if (this.#isReporting) return this.#passWaiting(place, settled)
    return settled.then((isAdmitted) => this.#afterWait(place, isAdmitted))
  }

  #afterWait(place: RequestPlace<Req, Res>, isAdmitted: boolean): MaybePromise<boolean> {
    if (place.isGone) return this.#turnAway(place)
    this.#guard.recordVerdict(isAdmitted)
    return isAdmitted ? this.#admit(place) : this.#deny(place)
  }

  /**
   * In report mode, no request waits. What would have happened is reported when it would have happened, or
   * once the response begins. Such a request has no latency that could be compared.
   */
  #passWaiting(place: RequestPlace<Req, Res>, settled: Promise<boolean>): true {
    place.hasPassed = true
    place.isSample = false
    const reported = settled.then((isAdmitted) => {
      if (place.isGone) return false
      this.#guard.recordVerdict(isAdmitted)
      return this.#withParts(place, (parts) => {
        this.#report(place, isAdmitted, parts)
        return true
      })
    })
    ignoreRejection(reported) // of a key function: the request has passed
    return true
  }

  #admit(place: RequestPlace<Req, Res>): MaybePromise<boolean> {
    if (!this.#isHeard) return this.#pass(place)
    return this.#withParts(place, (parts) => {
      this.#report(place, true, parts)
      return this.#pass(place)
    })
  }

  #pass(place: RequestPlace<Req, Res>): MaybePromise<boolean> {
    if (place.isGone) return this.#turnAway(place)
    place.hasPassed = true
    return true
  }

  #deny(place: RequestPlace<Req, Res>): MaybePromise<boolean> {
    return this.#withParts(place, (parts) => {
      const decision = this.#report(place, false, parts)
      if (this.#isReporting) return this.#pass(place)
      const { req, res, onDenied } = place
      this.#writer.recordDecision(req, this.#steps.limiter, decision)
      return denyRequest(this.#steps, req, res, onDenied, decision)
    })
  }

  /**
   * Ends a request whose client has left. That is no decision: the guard has not denied it. In report mode,
   * it passes, as it would without a guard.
   */
  #turnAway(place: RequestPlace<Req, Res>): MaybePromise<boolean> {
    const { req, res, onDenied } = place
    if (!this.#isReporting)
      return denyRequest(this.#steps, req, res, onDenied, unchargedDecision('fail-closed'))
    place.hasPassed = true
    return true
  }

  #report({ req }: RequestPlace<Req, Res>, isAdmitted: boolean, parts: readonly NamedPart[]): Decision {
    return this.#steps.stepped.report(guardDecision(this.#guard, isAdmitted, parts), req)
  }

  /**
   * Calls `use` with the parts of a decision, unless the client of the request has left before it was known.
   */
  #withParts(
    place: RequestPlace<Req, Res>,
    use: (parts: readonly NamedPart[]) => MaybePromise<boolean>,
  ): MaybePromise<boolean> {
    if (place.parts !== undefined) return use(place.parts)
    const { resolveParts } = this.#steps.stepped.core.limits
    const parts = catchMaybe<readonly NamedPart[] | Decision>(
      () => resolveParts(place.req, 1),
      (error) => denyDisconnected(error),
    )
    return thenMaybe(parts, (found) => {
      if ('source' in found) return this.#turnAway(place)
      this.#hasReadClient = true
      place.parts = found
      return use(found)
    })
  }

  get #isHeard(): boolean {
    return isHeard(this.#steps.limiter.events)
  }

  get #isReporting(): boolean {
    return this.#steps.modeSwitch.mode === 'report'
  }
}
