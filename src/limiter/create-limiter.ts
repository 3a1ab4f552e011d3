import { remoteSupportOf } from '../pipe/remote-support.js'
import { createEmitter } from '../platform.js'
import type { StoreError } from '../stores/store-error.js'
import { adjustmentsOf } from './adjust-limiter.js'
import { decisionReporter } from './charge-limits.js'
import { holdingsOnDemand } from './concurrency/held-by-decision.js'
import { limiterCore } from './create-core.js'
import { watchCreation } from './created-in-handler.js'
import { logIfDebugged } from './debug-log.js'
import type { Decision, Finish } from './decision.js'
import { emit, emitFailure, type LimiterEvents, nameEvents } from './events.js'
import { registerForInspection } from './inspection.js'
import type { Limiter, MiddlewareLimiter } from './limiter.js'
import { finishDecision, type LimiterParts, limiterMethods } from './limiter-methods.js'
import type { LimiterOptions } from './options.js'
import { type LimiterSettings, readLimiterOptions } from './read-options.js'
import { limiterDocument } from './settings-in-force.js'
import { waitWith } from './waiting/wait-with.js'

/**
 * Creates a limiter that you charge yourself: for WebSockets, queues, GraphQL and other code without HTTP.
 *
 * Throws a `TypeError` for wrong options, with the fix in the message.
 *
 * @example
 * ```ts
 * import { createLimiter } from 'headgate'
 *
 * const key = (user: { id: string }) => user.id
 * const emails = createLimiter({ limit: 10, window: '1h', key })
 * const { allowed, retryAfterMs } = await emails.charge({ id: 'ada' })
 * if (!allowed) console.log(`Try again in ${Math.ceil(retryAfterMs / 1000)} seconds.`)
 * ```
 */
export function createLimiter<Subject = unknown>(options: LimiterOptions<Subject>): Limiter<Subject> {
  const parts = limiterFrom<Subject>('createLimiter', readLimiterOptions('createLimiter', options))
  return Object.assign(parts.limiter, adjustmentsOf(parts), { waitFor: waitWith(parts) })
}

/** A limiter and its parts, for middleware that acts between the steps of a charge. */
export interface SteppedLimiter<Subject> extends LimiterParts<Subject> {
  readonly limiter: MiddlewareLimiter<Subject>
}

/** Creates a limiter from the settings that its options were read into. Error messages name `owner`. */
export function limiterFrom<Subject>(owner: string, given: LimiterSettings): SteppedLimiter<Subject> {
  const parts = limiterParts<Subject>(owner, given)
  const { document, stops } = parts
  const limiter = limiterMethods(parts)
  registerForInspection(limiter, parts)
  logIfDebugged(limiter)
  if (document.followed !== undefined) stops.push(document.followed.start())
  return Object.assign(parts, { limiter })
}

/** Creates the parts of a limiter, and connects them. */
function limiterParts<Subject>(owner: string, given: LimiterSettings): LimiterParts<Subject> {
  const remote = remoteSupportOf(given.store)
  const publisher = remote?.limitsPublisher(given, () => [
    ...given.context.limits.values(),
    ...(parts.candidate?.limits.values() ?? []),
  ])
  const settings = { ...given, context: { ...given.context, onBound: publisher?.onBound } }
  const { context, access, modeSwitch, store } = settings
  const events = createEmitter<LimiterEvents<Subject>>()
  nameEvents(events, context.name)
  const warnOfError = remote?.errorWarnings(events, settings)
  const onRefundFailed = (error: unknown, decision?: Decision) =>
    emitFailure(events, 'refundFailed', error, decision)
  const onRenewalFailed = (error: StoreError) => emitFailure(events, 'renewalFailed', error)
  const holdings = holdingsOnDemand(onRenewalFailed, onRefundFailed)
  const core = limiterCore(settings, {
    onStoreError(error) {
      if (warnOfError === undefined) emitFailure(events, 'storeError', error)
      else if (!emit(events, 'storeError', [error])) warnOfError(error)
    },
    onRefundLost: onRefundFailed,
    onUnitsBack: (keys) => parts.waiting?.retry(keys),
    onChange(...change) {
      if (change[0] === 'closed') holdings()?.renewDue()
      emit(events, 'storeState', change)
    },
    hold: (receipt) => holdings(receipt.parts)?.hold(receipt),
    releaseLate: (parts, ...late) => holdings(parts)?.releaseLate(parts, ...late),
  })
  const document = limiterDocument(settings, core, events, {
    useCandidate(entries) {
      parts.candidate?.close()
      parts.candidate = create(entries)
    },
    onRulesChanged: () => parts.waiting?.onRulesChanged(),
  })
  const { followed } = document
  const createCandidate = followed?.createCandidate ?? settings.createCandidate
  const create = (entries = settings.candidate) =>
    createCandidate?.({ ...settings, candidate: entries }, events, followed?.ruleCandidate)
  const report = decisionReporter(context.name, modeSwitch, events)
  const finish: Finish = (decision, subject) => finishDecision(parts, decision, subject)
  const unsubscribe = store.onLimitsLost?.((error) => emitFailure(events, 'limitsLost', error))
  const parts: LimiterParts<Subject> = {
    owner,
    settings,
    events,
    access,
    core,
    watches: [watchCreation(!settings.isOwnStore), ...(publisher ? [publisher.watch] : [])],
    candidate: create(),
    report,
    finish,
    waiting: undefined,
    isClosed: false,
    holdings,
    adjustments: undefined,
    document,
    onRefundFailed,
    stops: [() => unsubscribe?.(), () => publisher?.close()],
  }
  return parts
}
