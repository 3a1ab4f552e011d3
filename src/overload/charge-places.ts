import type { SteppedLimiter } from '../limiter/create-limiter.js'
import { type Decision, denyDisconnected, type Finish } from '../limiter/decision.js'
import type { NamedPart } from '../limiter/receipt.js'
import { catchMaybe, type MaybePromise, thenMaybe } from '../util/maybe-promise.js'
import { wrongOption } from '../util/validate.js'
import { CALLS, endCall, reportWait } from './calls.js'
import { clientHash } from './client-hash.js'
import { guardDecision } from './guard-decision.js'
import { OWNER, readPriority, readTenant } from './option-functions.js'
import { Place } from './place.js'
import type { ProcessGuard } from './process-guard.js'

/** The option functions that read a subject. */
interface Readers<Subject> {
  readonly priority?: (subject: Subject) => unknown
  readonly tenant?: (subject: Subject) => unknown
}

/**
 * Makes `limiter.charge` take a place, which is held until `limiter.release`, and `limiter.peek` return the
 * figures.
 */
export function chargePlaces<Subject>(
  guard: ProcessGuard,
  { priority, tenant }: Readers<Subject>,
  { core, settings, report }: SteppedLimiter<Subject>,
): void {
  const { resolveParts } = core.limits

  function charge(subject: Subject, parts: readonly NamedPart[], finish: Finish): MaybePromise<Decision> {
    const place = new Place(readPriority(priority, subject), readTenant(tenant, subject))
    place.client = clientHash(parts[0]?.identity ?? '')
    const verdict = guard.offerCall(place)
    const skipsWait = verdict === 'waiting' && settings.modeSwitch.mode === 'report'
    const release = () => endCall(guard, place, CALLS, !skipsWait)
    const decide = (isAdmitted: boolean) =>
      guardDecision(guard, isAdmitted, parts, isAdmitted ? { release, stopRenewals() {} } : undefined)
    if (verdict !== 'waiting') return finish(decide(verdict === 'admitted'), subject)
    if (skipsWait) {
      reportWait(guard, place, (isAdmitted) => report(guardDecision(guard, isAdmitted, parts), subject))
      return decide(true)
    }
    return place.wait().then((isAdmitted) => {
      guard.recordVerdict(isAdmitted)
      return finish(decide(isAdmitted), subject)
    })
  }

  function chargeDirectly(subject: unknown, cost = 1, finish: Finish): MaybePromise<Decision> {
    if (cost > 1) throw wrongOption(OWNER, 'cost', '0 or 1', cost, 'A request takes one place.')
    return catchMaybe<Decision>(
      () =>
        thenMaybe(resolveParts(subject, 1), (parts) =>
          cost === 0
            ? finish(guardDecision(guard, true, parts, undefined, 0), subject)
            : charge(subject as Subject, parts, finish),
        ),
      (error) => finish(denyDisconnected(error), subject),
    )
  }

  core.limits = { ...core.limits, chargeDirectly }
}
