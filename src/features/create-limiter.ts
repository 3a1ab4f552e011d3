import { EventEmitter } from 'node:events'
import { checkMode } from '../limiter/access-rules.js'
import type { LimitContext } from '../limiter/bind-limit.js'
import { limiterCore } from '../limiter/core.js'
import {
  checkDecision,
  type Decision,
  type Finish,
  receiptOf,
  reportedDecision,
} from '../limiter/decision.js'
import { emit, emitFailure, type LimiterEvents } from '../limiter/events.js'
import type { LimiterOptions } from '../limiter/options.js'
import { type LimiterSettings, readLimiterOptions } from '../limiter/read-options.js'
import { storeFailureReporter } from '../limiter/store-failures.js'
import { endUndecided } from '../limiter/undecided.js'
import { request } from '../pipe/pipe.js'
import { adjustmentsOf, promisedAdjustments } from './adjustments.js'
import { createCandidate } from './candidate/candidate.js'
import {
  type Charging,
  chargeLimits,
  chargeUnlessDecided,
  decisionReporter,
  peekLimits,
} from './charge-limits.js'
import { readCost, refuseOptions } from './charge-options.js'
import { watchCreation } from './created-in-handler.js'
import { healthOf } from './health.js'
import { holdingsOf, releaseDecision } from './holdings.js'
import { withInspection } from './inspection.js'
import type { Limiter } from './limiter.js'
import { logIfDebugged } from './log-events.js'
import { limitsPublisher } from './publish-limits.js'
import { limiterDocument } from './settings-in-force.js'
import { promiseDecisions } from './unawaited-decision.js'
import { createWaiting } from './waiting/wait-for.js'

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
  return limiterFrom<Subject>('createLimiter', readLimiterOptions('createLimiter', options)).limiter
}

/** A limiter with the steps of `charge` exposed, for middleware that does something between them. */
export interface SteppedLimiter<Subject> extends Charging {
  readonly limiter: Limiter<Subject>
  /** Reports a decision, and returns it unchanged, even in report mode. */
  readonly report: Finish
}

/** Creates a limiter from settings that were read; `owner` is the function that errors name. */
export function limiterFrom<Subject>(owner: string, given: LimiterSettings): SteppedLimiter<Subject> {
  const limitsOf = (limiter: Pick<LimitContext, 'limits'> | undefined) => limiter?.limits.values() ?? []
  const publisher = limitsPublisher(given, () => [
    ...limitsOf(given.context),
    ...limitsOf(charging.candidate),
  ])
  const settings = { ...given, context: { ...given.context, onBound: publisher?.onBound } }
  const { context, access, modeSwitch, onStoreError } = settings
  const events = new EventEmitter<LimiterEvents<Subject>>()
  const onRefundFailed = (error: unknown, decision?: Decision) =>
    emitFailure(events, 'refundFailed', error, decision)
  const holdings = holdingsOf((error) => emitFailure(events, 'renewalFailed', error), onRefundFailed)
  const ownCore = limiterCore(settings, {
    onStoreError: storeFailureReporter(events, settings),
    onRefundLost: onRefundFailed,
    onUnitsBack: (keys) => waiting.retry(keys),
    onChange(...change) {
      if (change[0] === 'closed') holdings.renewDue()
      emit(events, 'storeState', change)
    },
    hold: holdings.hold,
    releaseLate: holdings.releaseLate,
  })
  const report = decisionReporter(context.name, modeSwitch, events)
  const finish: Finish = (decision, subject) => {
    if (settings.holdUndecided !== undefined) endUndecided(decision) // the caller decides what counts
    return applyMode(report(decision, subject))
  }
  const applyMode = (decision: Decision) =>
    decision.allowed || modeSwitch.mode !== 'report' ? decision : reportedDecision(decision)
  const document = limiterDocument(settings, ownCore, events, {
    useCandidate,
    onModeChanged: () => waiting.endIfReport(),
  })
  const { followed } = document
  const { core, waitingCore } = followed ?? { core: ownCore, waitingCore: ownCore }
  const waiting = createWaiting(waitingCore, { access, modeSwitch, finish, onRefundFailed })
  const adjustments = adjustmentsOf<Subject>(owner, core, onStoreError)
  const charging: Charging = {
    access,
    core,
    watches: [watchCreation(!settings.isOwnStore), ...(publisher ? [publisher.watch] : [])],
    candidate: createCandidate(settings, events, followed?.ruleCandidate),
  }
  settings.watchName(charging.watches)
  const promiseDecision = promiseDecisions()
  const unsubscribe = settings.store.onLimitsLost?.((error) => emitFailure(events, 'limitsLost', error))

  function useCandidate(entries: LimiterSettings['candidate']): void {
    charging.candidate?.close()
    charging.candidate = createCandidate({ ...settings, candidate: entries }, events, followed?.ruleCandidate)
  }

  const limiter: Limiter<Subject> = {
    charge: (subject, options) =>
      promiseDecision(() => {
        const cost = options === undefined ? undefined : readCost(owner, options)
        return chargeUnlessDecided(charging, subject, finish, () =>
          chargeLimits(charging, subject, cost, finish),
        )
      }),
    waitFor: (subject, options) => promiseDecision(() => waiting.waitFor(subject, options)),
    peek: (subject, ...options: unknown[]) =>
      promiseDecision(() => {
        refuseOptions(owner, options[0])
        const finishPeek: Finish = (decision) => applyMode(closeReceipt(decision))
        return chargeUnlessDecided(charging, subject, finishPeek, () =>
          peekLimits(charging, subject, finishPeek),
        )
      }),
    ...promisedAdjustments(() => charging.candidate?.adjustBeside(adjustments) ?? adjustments),
    async release(decision) {
      checkDecision(owner, decision)
      try {
        await releaseDecision(decision)
      } catch (error) {
        onRefundFailed(error, decision)
      }
    },
    candidateReport: () => charging.candidate?.report(),
    describe: document.describe,
    health: () => healthOf(core.store, settings.healthKey),
    async close() {
      unsubscribe?.()
      publisher?.close()
      stopFollowing?.()
      waiting.close()
      await holdings.releaseAll().catch(onRefundFailed)
      await charging.candidate?.close()
      try {
        await core.close()
      } finally {
        settings.releaseStore()
      }
    },
    get mode() {
      return modeSwitch.mode
    },
    set mode(mode) {
      document.setMode(checkMode(owner, 'mode', mode))
    },
    events,
    name: context.name,
  }
  const { limiterScope, secret, isLocal = false, limits } = context
  withInspection(limiter, {
    store: settings.store,
    limiterScope,
    secret,
    isLocal,
    listingOf: access.listingOf,
    limits,
    onStoreError,
    fallbackShare: settings.fallbackShare,
    apply: (operation) => request(core.store, operation),
    candidateClients: () => charging.candidate?.clients(),
    candidateIdentities: () => charging.candidate?.identities() ?? [],
  })
  logIfDebugged(limiter)
  const stopFollowing = followed?.start()
  return Object.assign(charging, { limiter, report })
}

/** Returns the decision of a peek, which has nothing to refund or to adjust. */
function closeReceipt(decision: Decision): Decision {
  const receipt = receiptOf(decision)
  if (receipt !== undefined) receipt.isRefundable = false
  return decision
}
