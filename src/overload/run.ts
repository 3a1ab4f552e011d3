import { identityOfValue, isKey } from '../keys/value-identity.js'
import { isHeard } from '../limiter/charge-limits.js'
import type { SteppedLimiter } from '../limiter/create-limiter.js'
import { partOf } from '../limiter/resolve-parts.js'
import { optional, readOptions } from '../options/option-table.js'
import { onAbort } from '../util/on-abort.js'
import { choice, wrongKind } from '../util/validate.js'
import { fieldsOf, hasMethods, isFunction } from '../util/values.js'
import { CALLS } from './charge-places.js'
import { clientHash } from './client-hash.js'
import { PRIORITIES, type Priority } from './cohorts.js'
import { guardDecision } from './guard-decision.js'
import { OWNER, readTenant } from './options.js'
import { OverloadError } from './overload-error.js'
import { Place } from './place.js'
import type { ProcessGuard } from './process-guard.js'

/** The options of a guarded call. */
export interface RunOptions {
  /** Ends the wait when it aborts. The function gets it also. */
  signal?: AbortSignal
  /** How important the call is. Default `'default'`. */
  priority?: Priority
  /**
   * What the call does, such as `'report'`, as `routeClass` is of requests: how long calls take is compared within
   * an operation. At most 100 are kept, and all others share one. Default: all calls are of one operation.
   */
  operation?: string
  /** The tenant that the call is for. */
  tenant?: string
  /**
   * Who the call is for, such as the id of a user: for some seconds, the calls of a client are either served or
   * not. Default: each call is a client.
   */
  client?: string
}

/** Calls a function once there is a place for it. */
export type Run = <T>(
  call: (signal: AbortSignal | undefined) => T | PromiseLike<T>,
  options?: RunOptions,
) => Promise<T>

const TABLE = () => ({
  rows: {
    signal: optional(readSignal),
    priority: optional(choice<Priority>(...PRIORITIES)),
    operation: optional(readOperation),
    tenant: optional((_owner, _option, tenant) => readTenant(() => tenant, undefined)),
    client: optional(readClient),
  },
  objectFix: "Write guard.run(call, { signal, priority: 'critical' }).",
})

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

  return async function run(call, options = {}) {
    if (!isFunction(call)) throw wrongKind(OWNER, 'the first argument of run', 'a function', call, CALL_FIX)
    const read = readOptions(`${OWNER}: run`, options, TABLE())
    const { signal, priority, operation, tenant, client } = read
    const ofCalls = operation === undefined ? CALLS : `${CALLS} ${operation}`
    signal?.throwIfAborted()
    const place = new Place(PRIORITIES.indexOf(priority ?? 'default'), tenant)
    place.client = client === undefined ? randomHash() : clientHash(identify(client))
    const isReporting = settings.modeSwitch.mode === 'report'
    const isAdmitted = await verdictOf(guard, place, isReporting, signal)
    tell(options, isAdmitted)
    if (!isAdmitted && !isReporting) throw new OverloadError(guard.retryAfterMs())
    try {
      const result = await call(signal)
      guard.end(place, ofCalls, true)
      return result
    } catch (error) {
      guard.end(place, `${ofCalls} failed`, true)
      throw error
    }
  }
}

const CALL_FIX = 'Write guard.run(() => query()).'

/** Resolves with whether a call has a place. Rejects if its signal aborts while it waits. */
async function verdictOf(
  guard: ProcessGuard,
  place: Place,
  isReporting: boolean,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const verdict = guard.offerCall(place)
  if (verdict !== 'waiting') return verdict === 'admitted'
  if (isReporting) return true
  let cancel: (() => void) | undefined
  try {
    const isAdmitted = await new Promise<boolean>((resolve, reject) => {
      place.onSettled = resolve
      cancel = signal && onAbort(signal, () => reject(signal.reason))
    })
    guard.settled(isAdmitted)
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

function readClient(owner: string, option: string, client: unknown): string {
  if (typeof client === 'string' && isKey(client)) return client
  throw wrongKind(
    owner,
    option,
    'a string of at most 1024 characters',
    client,
    'Write client: String(user.id).',
  )
}

function readOperation(owner: string, option: string, operation: unknown): string {
  if (typeof operation === 'string' && operation.length <= MAX_OPERATION_LENGTH) return operation
  const must = `a string of at most ${MAX_OPERATION_LENGTH} characters`
  throw wrongKind(owner, option, must, operation, "Write operation: 'report'.")
}

const MAX_OPERATION_LENGTH = 256

function readSignal(owner: string, option: string, signal: unknown): AbortSignal {
  if (typeof fieldsOf(signal).aborted === 'boolean' && hasMethods(signal, 'addEventListener'))
    return signal as AbortSignal
  throw wrongKind(owner, option, 'an AbortSignal', signal, 'Did you mean signal: controller.signal?')
}
