import { identityOfValue } from '../keys/value-identity.js'
import { isHeard } from '../limiter/charge-limits.js'
import type { SteppedLimiter } from '../limiter/create-limiter.js'
import { partOf } from '../limiter/resolve-parts.js'
import { onAbort } from '../util/on-abort.js'
import { wrongKind } from '../util/validate.js'
import { isFunction } from '../util/values.js'
import { CALLS, endCall, reportWait } from './calls.js'
import { clientHash } from './client-hash.js'
import { PRIORITIES } from './cohorts.js'
import { guardDecision } from './guard-decision.js'
import { OWNER } from './option-functions.js'
import { OverloadError } from './overload-error.js'
import { Place } from './place.js'
import type { ProcessGuard } from './process-guard.js'
import { NO_OPTIONS, type RunOptions, readRunOptions } from './run-options.js'

/** Calls a function once there is a place for it. */
export type Run = <T>(
  call: (signal: AbortSignal | undefined) => T | PromiseLike<T>,
  options?: RunOptions,
) => Promise<T>

/** Creates the function that guards calls. */
export function runner<Subject>(guard: ProcessGuard, limiter: SteppedLimiter<Subject>): Run {
  const { settings, events, report } = limiter
  const identify = identityOfValue(settings.context)

  /** Reports the verdict on a call. Its subject is the options. */
  function tell(options: RunOptions, isAdmitted: boolean): void {
    if (!isHeard(events)) return
    const [limit] = settings.context.limits.values()
    const parts = limit ? [partOf(limit, identify(options.client ?? CALLS), 1)] : []
    report(guardDecision(guard, isAdmitted, parts), options)
  }

  return async function run(call, options = NO_OPTIONS) {
    if (!isFunction(call)) throw wrongKind(OWNER, 'the first argument of run', 'a function', call, CALL_FIX)
    const { signal, priority, operation, tenant, client } = readRunOptions(options)
    const ofCalls = operation === undefined ? CALLS : `${CALLS} ${operation}`
    signal?.throwIfAborted()
    const place = new Place(PRIORITIES.indexOf(priority ?? 'default'), tenant)
    place.client = client === undefined ? randomHash() : clientHash(identify(client))
    const isReporting = () => settings.modeSwitch.mode === 'report' // may change while the call waits
    const verdict = guard.offerCall(place)
    const skipsWait = verdict === 'waiting' && isReporting()
    if (skipsWait) reportWait(guard, place, (isAdmitted) => tell(options, isAdmitted))
    else {
      const isAdmitted =
        verdict === 'waiting' ? await hasWaited(guard, place, signal) : verdict === 'admitted'
      tell(options, isAdmitted)
      if (!isAdmitted && !isReporting()) throw new OverloadError(guard.retryAfterMs())
    }
    try {
      const result = await call(signal)
      endCall(guard, place, ofCalls, !skipsWait)
      return result
    } catch (error) {
      // One that fails later than others succeed is a timeout. Among its like, it would be no slower than usual.
      endCall(guard, place, guard.isSlow(place, ofCalls) ? ofCalls : `${ofCalls} failed`, !skipsWait)
      throw error
    }
  }
}

const CALL_FIX = 'Write guard.run(() => query()).'

/** Resolves with whether a call that waits gets a place. Rejects if its signal aborts before. */
async function hasWaited(
  guard: ProcessGuard,
  place: Place,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  let cancel: (() => void) | undefined
  try {
    const isAdmitted = await new Promise<boolean>((resolve, reject) => {
      place.onSettled = resolve
      cancel = signal && onAbort(signal, () => reject(signal.reason))
    })
    guard.recordVerdict(isAdmitted)
    return isAdmitted
  } catch (reason) {
    guard.end(place, CALLS, false)
    throw reason
  } finally {
    cancel?.()
  }
}

/** Without a client, a call is denied by chance: another one may pass. */
function randomHash(): number {
  return Math.floor(Math.random() * 2 ** 32) | 0
}
