import { chargedParts, type Decision } from '../limiter/decision.js'
import { readOptions, withDefault } from '../options/option-table.js'
import { isIsolate } from '../platform.js'
import { callAt } from '../util/call-at.js'
import { type Duration, durationMs } from '../util/durations.js'
import { catchMaybe, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { SharedPlaces } from '../util/places.js'
import { whole, wrongOption } from '../util/validate.js'
import type { ResponseWriter } from './response-writer.js'

/** The most requests of a limiter that are delayed at a time. A client gets no more places than are left. */
const MAX_DELAYED = 1000

/** Which requests to delay, and for how long. */
export interface DelayOptions<Req> {
  /** How many units of the limit a client may use without a delay. A whole number of at least 0. */
  after: number
  /**
   * The delay for each unit beyond `after`, or a function that returns the whole delay in milliseconds. The
   * function gets the used units. A result of 0 or less means no delay.
   */
  by: Duration | ((used: number, req: Req) => MaybePromise<number>)
  /** The longest delay. Default `'10s'`. */
  max?: Duration
}

type DelayBy = (used: number, req: unknown) => MaybePromise<number>

const TABLE = {
  rows: { after: whole(0, Number.MAX_SAFE_INTEGER, 5), by: readBy, max: withDefault('10s', durationMs) },
}

export function readDelay(owner: string, option: string, delay: unknown) {
  return readOptions(`${owner}: ${option}`, delay, TABLE)
}

function readBy(owner: string, option: string, by: unknown): number | DelayBy {
  if (typeof by !== 'function') return durationMs(owner, option, by)
  return (used, req) =>
    thenMaybe(by(used, req), (delayMs: unknown) => {
      if (typeof delayMs === 'number' && !Number.isNaN(delayMs)) return delayMs
      throw wrongOption(owner, option, 'a function that returns milliseconds', delayMs)
    })
}

/** How a request continues once its delay is known. */
interface DelayOutcomes {
  report(): void
  pass(): boolean
  /** Denies the request, because too many others are delayed. */
  deny(delayMs: number): MaybePromise<boolean>
}

/**
 * Delays an allowed request as the option `delay` says. Returns whether it passes. It does not if its client
 * hangs up meanwhile, if too many requests are delayed, or if too many of the same client are. Reports one
 * decision for each request, even if an option function throws.
 */
export type Delayer<Req, Res> = (
  req: Req,
  res: Res,
  decision: Decision,
  outcomes: DelayOutcomes,
) => MaybePromise<boolean>

export function createDelayer<Req, Res>(
  { after, by, max }: ReturnType<typeof readDelay>,
  writer: ResponseWriter<Res>,
): Delayer<Req, Res> {
  /** Absent on isolates, where a request whose client leaves would keep its place. */
  const shared = isIsolate() ? undefined : new SharedPlaces(MAX_DELAYED)
  const atMost = (delayMs: number) => Math.min(Math.max(delayMs, 0), max)

  function delayOf({ limit, remaining, parts }: Decision, req: Req): MaybePromise<number> {
    const used = parts.length === 0 ? 0 : limit - remaining
    if (used <= after) return 0
    return typeof by === 'number' ? atMost((used - after) * by) : thenMaybe(by(used, req), atMost)
  }

  /**
   * Resolves with true after a time, or with false as soon as the client hangs up. Returns `undefined` if
   * there is no place.
   */
  function pause(res: Res, decision: Decision, delayMs: number): Promise<boolean> | undefined {
    const places = shared ?? new SharedPlaces(MAX_DELAYED)
    const key = chargedParts(decision)?.[0]?.key ?? ''
    if (!places.hasPlaceFor(key)) return undefined
    places.take(key)
    return new Promise<boolean>((resolve) => {
      let stopListening: (() => void) | undefined
      const cancel = callAt(performance.now() + delayMs, () => {
        stopListening?.()
        resolve(true)
      })
      stopListening = writer.onceAborted(res, () => {
        cancel()
        resolve(false)
      })
    }).finally(() => places.giveBack(key))
  }

  return function delayRequest(req, res, decision, { report, pass, deny }) {
    const delayMs = catchMaybe(
      () => delayOf(decision, req),
      (error) => {
        report()
        throw error
      },
    )
    return thenMaybe(delayMs, (forMs) => {
      const isConnected = forMs === 0 ? true : pause(res, decision, forMs)
      if (isConnected === undefined) return deny(forMs)
      report()
      return thenMaybe(isConnected, (isStillConnected) => isStillConnected && pass())
    })
  }
}
