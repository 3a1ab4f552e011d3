import { isIsolate } from '../platform.js'
import { messageOf } from '../stores/store-error.js'
import type { ServerTypes } from '../util/framework-types.js'
import { isPromise } from '../util/maybe-promise.js'
import { warnOnce } from '../util/warn-once.js'
import type { OverloadWriter } from './first-byte.js'
import type { OverloadOptions } from './options.js'
import type { PlaceKeeper, RequestPlace } from './place.js'
import type { ProcessGuard } from './process-guard.js'
import { RouteClasses } from './route-class.js'
import { hasBody, isArriving, isAwaited } from './upload.js'

/**
 * A request holds its place for this time at most after its client has left, or if nothing tells whether it
 * will ever get a response.
 */
const LONGEST_MS = 60_000

/** If a body takes longer than this to arrive, the latency of its request says nothing about the server. */
const BODY_MS = 20

/** If a body takes longer than this to arrive, its request goes on without a place. */
const UPLOAD_MS = 1000

/** Takes places back from requests, at the first byte of the response or after the client has left. */
export class RequestPlaces<Req extends object, Res> implements PlaceKeeper<Req, Res> {
  readonly #guard: ProcessGuard
  readonly #writer: OverloadWriter<Res>
  readonly #options: OverloadOptions<ServerTypes<Req, Res>>
  readonly #classes = new RouteClasses()

  constructor(
    guard: ProcessGuard,
    writer: OverloadWriter<Res>,
    options: OverloadOptions<ServerTypes<Req, Res>>,
  ) {
    this.#guard = guard
    this.#writer = writer
    this.#options = options
  }

  /**
   * Sets when the place of a request that has just got it expires. For a request that may have a body, the
   * deadline only begins a check of the body, because most requests are over before then.
   */
  start(place: RequestPlace<Req, Res>): void {
    if (place.state !== 'running') return
    if (place.onNoResponse !== undefined) this.#expireIn(place, LONGEST_MS)
    else if (this.#writer.uploadOf !== undefined) this.#expireIn(place, BODY_MS)
  }

  /**
   * Handles a deadline: takes the place back, or sets the next deadline. A request whose handler waits for
   * its body does not load the server, and clients could keep all places by sending bodies slowly.
   */
  expire(place: RequestPlace<Req, Res>): void {
    if (place.isGone) {
      this.#giveBack(place)
      return
    }
    if (place.onNoResponse !== undefined) {
      this.#end(place, '', false)
      place.onNoResponse()
      return
    }
    const upload = this.#writer.uploadOf?.(place.res)
    if (upload === undefined || !hasBody(upload) || !isArriving(upload)) return
    place.isSample = false
    const untilMs = place.startedAtMs + UPLOAD_MS
    if (this.#guard.now() < untilMs) this.#guard.deadlines.set(place, untilMs)
    else if (isAwaited(upload)) this.#end(place, '', false)
    else this.#expireIn(place, UPLOAD_MS)
  }

  /**
   * Takes back the place of a request whose response begins. If the request has not passed the guard,
   * something else has responded to it, such as a timeout. It no longer gets a place.
   */
  begin(place: RequestPlace<Req, Res>): void {
    if (place.isGone) {
      this.#giveBack(place)
      return
    }
    if (!place.hasPassed) {
      this.leave(place)
      return
    }
    const isWaiting = place.state === 'waiting'
    place.hasBegun = true
    if (place.state === 'over') return
    this.#end(place, this.#classOf(place), place.isSample)
    if (isWaiting) place.settle(true)
  }

  /**
   * Handles a client that has left. The work of its handler goes on and loads the server, so another request
   * must not take the place yet. Unless the handler ends the response, the place is held as long again as
   * the request had run, or for the class's baseline if that is longer. It is held for a minute at most. On
   * isolates, the place is given back at once: the handler ends with its request, and no timer runs between
   * requests.
   */
  leave(place: RequestPlace<Req, Res>): void {
    if (place.isGone) return
    place.isGone = true
    if (place.state === 'over') return
    const routeClass = this.#classOf(place)
    place.isSample &&= this.#guard.isSlow(place, routeClass)
    if (place.state === 'running' && place.hasPassed && !isIsolate()) {
      const usualMs = this.#guard.baselineMs(routeClass) ?? 0
      const longestMs = Math.min(Math.max(this.#guard.ranMs(place), usualMs), LONGEST_MS)
      place.leftClass = routeClass
      this.#expireIn(place, longestMs)
      return
    }
    this.#end(place, routeClass, place.isSample)
    place.settle(false)
  }

  /** Takes back the place of a request whose client left while its handler ran. */
  #giveBack(place: RequestPlace<Req, Res>): void {
    const { leftClass } = place
    if (leftClass === undefined) return
    place.leftClass = undefined
    this.#end(place, leftClass, place.isSample)
  }

  #expireIn(place: RequestPlace<Req, Res>, afterMs: number): void {
    this.#guard.deadlines.set(place, this.#guard.now() + afterMs)
  }

  #end(place: RequestPlace<Req, Res>, routeClass: string, isSample: boolean): void {
    this.#guard.deadlines.clear(place)
    this.#guard.end(place, routeClass, isSample)
  }

  /**
   * Returns the class in which the latency of a request is compared. A server error that took longer than
   * the baseline of served requests is most likely a timeout. In the class of failures, it would not look
   * slow. If `routeClass` throws, this only warns: a response is about to be sent, or the client has left.
   */
  #classOf(place: RequestPlace<Req, Res>): string {
    const { req, res } = place
    try {
      const given: unknown = this.#options.routeClass?.(req, res)
      if (typeof given === 'string') return given
      if (this.#options.routeClass !== undefined) warnOfNoString(given)
    } catch (error) {
      warnOfFailure(messageOf(error))
    }
    const status = this.#writer.statusOf(res)
    const { served, failed } = this.#classes.of(req, status)
    if (status < 400) return served
    return status >= 500 && this.#guard.isSlow(place, served) ? served : failed
  }
}

/**
 * Warns of a result that is not a string. A promise comes too late, and its rejection must not end the
 * process.
 */
function warnOfNoString(given: unknown): void {
  if (!isPromise(given)) {
    warnOfFailure(`it returned ${given === null ? 'null' : typeof given}, not a string`)
    return
  }
  given.then(
    () => warnOfFailure('it returned a promise, not a string'),
    (error: unknown) => warnOfFailure(`it returned a promise, which rejected: ${messageOf(error)}`),
  )
}

function warnOfFailure(reason: string): void {
  warnOnce('HEADGATE_ROUTE_CLASS_FAILED', `headgate: routeClass failed (${reason}).`)
}
