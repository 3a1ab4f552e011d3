import type { RequestOptions } from '../http/options.js'
import { type RequestSteps, requestSteps } from '../http/request-steps.js'
import { concurrency } from '../limiter/concurrency/policy.js'
import type { SteppedLimiter } from '../limiter/create-limiter.js'
import { emit } from '../limiter/events.js'
import type { MiddlewareLimiter } from '../limiter/limiter.js'
import { readOptions } from '../options/option-table.js'
import type { StoreError } from '../stores/store-error.js'
import type { ServerTypes } from '../util/framework-types.js'
import { warnOnce } from '../util/warn-once.js'
import { chargePlaces } from './charge-places.js'
import type { OverloadWriter } from './first-byte.js'
import { overloadFixes } from './fixes.js'
import { LIMIT_NAME } from './guard-decision.js'
import { RequestGuard } from './guard-requests.js'
import { OWNER, weigher } from './option-functions.js'
import { OVERLOAD_ROWS, OVERLOAD_RULES, type OverloadOptions, pickShared } from './options.js'
import { type OverloadStatus, ProcessGuard } from './process-guard.js'
import { type Run, runner } from './run.js'
import { shareTenants } from './share-tenants.js'
import { refuseUnits } from './without-units.js'

/** The methods of an overload guard besides its middleware. */
export interface OverloadControls<Req> {
  readonly limiter: MiddlewareLimiter<Req>
  /**
   * Calls a function once there is a place for it, and resolves with its result. So a slow dependency, such
   * as a database, does not fill the process. Use one guard for each dependency, and another for requests.
   *
   * Rejects with an `OverloadError` if the call is denied, with the reason of `signal` if that aborts while
   * the call waits, and with what the function rejects with.
   */
  readonly run: Run
  /** Returns the current figures of the guard. */
  status(): OverloadStatus
  /** Denies all waiting requests. From now on, no request waits. */
  close(): Promise<void>
}

/**
 * Creates the steps of requests to a server that may be overloaded, and the methods of its guard. Throws
 * a `TypeError` for wrong options.
 */
export function overloadSteps<Req extends object, Res>(
  options: OverloadOptions<ServerTypes<Req, Res>>,
  writer: OverloadWriter<Res>,
): { steps: RequestSteps<Req, Res>; controls: OverloadControls<Req> } {
  const fixes = { ...writer.fixes.own, ...overloadFixes() }
  const read = readOptions(OWNER, options, { rows: OVERLOAD_ROWS, rules: OVERLOAD_RULES, fixes })
  const { minLimit, maxLimit, maxWait: maxWaitMs, statusCode = 503, store, prefix } = read
  const { key, ...shared } = pickShared(options)
  const policy = concurrency({ limit: maxLimit, ttl: '1h' }) // describes the limit, and is never charged
  const steps: RequestSteps<Req, Res> = requestSteps<Req, Res>(
    OWNER,
    {
      ...shared,
      headers: 'none',
      statusCode,
      limits: [{ name: LIMIT_NAME, policy, ...(key && { key }) }],
    } as RequestOptions<ServerTypes<Req, Res>>,
    writer,
    { charge: (_steps, req, res, onDenied) => requests.enter(req, res, onDenied) },
  )
  const { limiter, stepped, modeSwitch } = steps
  const numbers = { minLimit, maxLimit, maxWaitMs, weightOf: weigher(options.weight) }
  const guard = new ProcessGuard(numbers, () => modeSwitch.mode !== 'report')
  const requests: RequestGuard<Req, Res> = new RequestGuard({ guard, writer, options, steps })
  chargePlaces(guard, options, stepped)
  refuseUnits(stepped)
  const sharesKey = `${prefix}:overload:${limiter.name}`
  const sharing = store && shareTenants(guard, store, sharesKey, shareErrors(stepped))
  stepped.stops.push(
    () => guard.close(),
    () => void sharing?.stop(),
  )
  const { describe } = limiter
  limiter.describe = () => ({ ...describe(), overload: { minLimit, maxLimit, maxWaitMs } })
  const controls = {
    limiter,
    run: runner(guard, stepped),
    status() {
      const error = sharing?.error()
      return { ...guard.status(), ...(error && { storeProblem: error.message }) }
    },
    async close() {
      await limiter.close()
      await sharing?.stop()
    },
  }
  return { steps, controls }
}

/** Returns what reports that processes cannot share their tenants. */
function shareErrors<Subject>({ events, settings }: SteppedLimiter<Subject>): (error: StoreError) => void {
  return (error) => {
    if (emit(events, 'storeError', [error])) return
    const { name } = settings.context
    warnOnce(
      'HEADGATE_STORE_ERROR',
      `headgate: the guard ${name} could not share its tenants with other processes (${error.message}). Until it ` +
        "can, each process has its own shares. To log every outage, listen to limiter.events.on('storeError', …).",
      `shares ${name}`,
    )
  }
}
