import type { SteppedLimiter } from '../limiter/create-limiter.js'
import { type Decision, denyDisconnected, type Finish } from '../limiter/decision.js'
import type { NamedPart } from '../limiter/receipt.js'
import { catchMaybe, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { wrongOption } from '../util/validate.js'
import { clientHash } from './client-hash.js'
import { guardDecision } from './guard-decision.js'
import { OWNER, readPriority, readTenant } from './options.js'
import { Place } from './place.js'
import type { ProcessGuard } from './process-guard.js'

/** The class of calls and charges, whose latencies are compared with one another. */
export const CALLS = 'calls'

/** The option functions that read a subject. */
interface Readers<Subject> {
  readonly priority?: (subject: Subject) => unknown
  readonly tenant?: (subject: Subject) => unknown
}

/**
 * Has `limiter.charge` take a place, which is held until `limiter.release`, and `limiter.peek` return the figures.
 */
export function chargePlaces<Subject>(
  guard: ProcessGuard,
  { priority, tenant }: Readers<Subject>,
  { core, settings }: SteppedLimiter<Subject>,
): void {
  const { resolveParts } = core.limits

  function charge(subject: Subject, parts: readonly NamedPart[]): MaybePromise<Decision> {
    const place = new Place(readPriority(priority, subject), readTenant(tenant, subject))
    place.client = clientHash(parts[0]?.identity ?? '')
    const release = () => guard.end(place, CALLS, true)
    const decide = (isAdmitted: boolean) =>
      guardDecision(guard, isAdmitted, parts, isAdmitted ? { release, stopRenewals() {} } : undefined)
    const verdict = guard.offerCall(place)
    if (verdict !== 'waiting') return decide(verdict === 'admitted')
    if (settings.modeSwitch.mode === 'report') return decide(true)
    return place.wait().then((isAdmitted) => {
      guard.settled(isAdmitted)
      return decide(isAdmitted)
    })
  }

  function chargeDirectly(subject: unknown, cost = 1, finish: Finish): MaybePromise<Decision> {
    if (cost > 1) throw wrongOption(OWNER, 'cost', '0 or 1', cost, 'A request takes one place.')
    const decision = catchMaybe<Decision>(
      () =>
        thenMaybe(resolveParts(subject, 1), (parts) =>
          cost === 0 ? guardDecision(guard, true, parts, undefined, 0) : charge(subject as Subject, parts),
        ),
      denyDisconnected,
    )
    return thenMaybe(decision, (decided) => finish(decided, subject))
  }

  core.limits = { ...core.limits, chargeDirectly }
}
