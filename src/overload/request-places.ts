import { isIsolate } from '../platform.js'
import { messageOf } from '../stores/store-error.js'
import { inBackground } from '../util/background-timer.js'
import type { ServerTypes } from '../util/framework-types.js'
import { warnOnce } from '../util/warn-once.js'
import type { OverloadWriter } from './first-byte.js'
import type { OverloadOptions } from './options.js'
import type { PlaceKeeper, RequestPlace } from './place.js'
import type { ProcessGuard } from './process-guard.js'
import { RouteClasses } from './route-class.js'
import { LONGEST_MS } from './unanswered.js'

/** Takes places back from requests: at the first byte of their responses, or after their clients have left. */
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
   * Takes the place of a request back whose response begins. One that waits has been responded to by somebody
   * else, such as a time-out, unless the guard lets it pass meanwhile.
   */
  begin(place: RequestPlace<Req, Res>): void {
    if (place.isGone) {
      this.#giveBack(place)
      return
    }
    const isWaiting = place.state === 'waiting'
    if (isWaiting && !place.hasPassed) {
      this.leave(place)
      return
    }
    place.hasBegun = true
    if (place.state === 'over') return
    this.#guard.end(place, this.#classOf(place), place.isSample)
    if (isWaiting) place.settle(true)
  }

  /**
   * The client of a request has left. What its handler has begun goes on, and loads the server: other requests in
   * its place would be too many. A handler that does not end the response has the place for as long again as it
   * had run by then, and for a minute at most. On isolates, it ends with its request, and no timer runs between
   * requests.
   */
  leave(place: RequestPlace<Req, Res>): void {
    if (place.isGone) return
    place.isGone = true
    if (place.state === 'over') return
    const routeClass = this.#classOf(place)
    place.isSample &&= this.#guard.isSlow(place, routeClass)
    if (place.state === 'running' && place.hasPassed && !isIsolate()) {
      const longestMs = Math.min(this.#guard.ranMs(place), LONGEST_MS)
      const timer = inBackground(setTimeout(() => this.#giveBack(place), longestMs))
      place.left = { routeClass, timer }
      return
    }
    this.#guard.end(place, routeClass, place.isSample)
    place.settle(false)
  }

  /** Takes the place of a request back whose client left while its handler ran. */
  #giveBack(place: RequestPlace<Req, Res>): void {
    const { left } = place
    if (left === undefined) return
    place.left = undefined
    clearTimeout(left.timer)
    this.#guard.end(place, left.routeClass, place.isSample)
  }

  /** A response is about to be sent, or its client has left: it is too late for an error. */
  #classOf({ req, res }: RequestPlace<Req, Res>): string {
    try {
      if (this.#options.routeClass !== undefined) return this.#options.routeClass(req, res)
    } catch (error) {
      warnOnce('HEADGATE_ROUTE_CLASS_FAILED', `headgate: routeClass failed (${messageOf(error)}).`)
    }
    return this.#classes.of(req, this.#writer.statusOf(res))
  }
}
