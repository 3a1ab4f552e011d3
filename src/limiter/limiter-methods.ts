import type { Emitter } from '../util/emitter.js'
import { type MaybePromise, promiseOf } from '../util/maybe-promise.js'
import { checkMode } from './access-rules.js'
import type { Adjustments } from './adjustments.js'
import { type ChargeContext, chargeLimits, chargeUnlessDecided, peekLimits } from './charge-limits.js'
import { readCost, refuseOptions } from './charge-options.js'
import { type holdingsOnDemand, releaseDecision } from './concurrency/held-by-decision.js'
import { checkDecision, type Decision, type Finish, receiptOf, reportedDecision } from './decision.js'
import type { LimiterEvents } from './events.js'
import { healthOf } from './health.js'
import type { MiddlewareLimiter } from './limiter.js'
import type { LimiterSettings } from './read-options.js'
import type { LimiterDocument } from './settings-in-force.js'
import { endUndecided } from './undecided.js'
import type { Waiting } from './waiting/wait-for.js'

/** The parts of a limiter. */
export interface LimiterParts<Subject> extends ChargeContext {
  /** The function named in error messages. */
  readonly owner: string
  readonly settings: LimiterSettings
  readonly events: Emitter<LimiterEvents<Subject>>
  /** Reports a decision, and returns it unchanged, even in report mode. */
  readonly report: Finish
  /** Reports a decision, and returns the one that the caller gets. */
  readonly finish: Finish
  /** The waiters. Absent until the first one comes. */
  waiting: Waiting | undefined
  isClosed: boolean
  readonly holdings: ReturnType<typeof holdingsOnDemand>
  /** What `adjustments` returns. Absent until it is called. A guard sets its own. */
  adjustments: Adjustments<Subject> | undefined
  readonly document: LimiterDocument
  readonly onRefundFailed: (error: unknown, decision?: Decision) => void
  /** Called on `close` to end what other objects do for this limiter. */
  readonly stops: (() => void)[]
}

/** Creates the public methods of a limiter. */
export function limiterMethods<Subject>(parts: LimiterParts<Subject>): MiddlewareLimiter<Subject> {
  const { settings, document, events } = parts
  const { modeSwitch, context } = settings
  return {
    charge: (subject, options) => promiseOf(chargeSubject, parts, subject, options),
    peek: (subject, ...options: unknown[]) => promiseOf(peekSubject, parts, subject, options[0]),
    release: (decision) => release(parts, decision),
    candidateReport: () => parts.candidate?.figures.report(),
    describe: document.describe,
    health: () => healthOf(parts.core.store, settings.healthKey),
    close: () => close(parts),
    get mode() {
      return modeSwitch.mode
    },
    set mode(mode) {
      document.setMode(checkMode(parts.owner, 'mode', mode))
    },
    events,
    name: context.name,
  }
}

function chargeSubject<Subject>(
  parts: LimiterParts<Subject>,
  subject: Subject,
  options: unknown,
): MaybePromise<Decision> {
  const cost = options === undefined ? undefined : readCost(parts.owner, options)
  return chargeUnlessDecided(chargeLimits, parts, subject, cost, parts.finish)
}

function peekSubject<Subject>(
  parts: LimiterParts<Subject>,
  subject: Subject,
  options: unknown,
): MaybePromise<Decision> {
  refuseOptions(parts.owner, options)
  const finish: Finish = (decision) => applyMode(parts, closeReceipt(decision))
  return chargeUnlessDecided(peekLimits, parts, subject, 0, finish)
}

/**
 * Reports a decision, and returns the one that the caller gets. The units count at once, because no response
 * says later whether they should.
 */
export function finishDecision(
  { settings, report }: Pick<LimiterParts<never>, 'settings' | 'report'>,
  decision: Decision,
  subject: unknown,
): Decision {
  if (settings.trackUndecided !== undefined) endUndecided(decision)
  return applyMode({ settings }, report(decision, subject))
}

/** Returns the decision that the caller gets: in report mode, an allowed one in place of a denial. */
function applyMode(
  { settings: { modeSwitch } }: Pick<LimiterParts<never>, 'settings'>,
  decision: Decision,
): Decision {
  return decision.allowed || modeSwitch.mode !== 'report' ? decision : reportedDecision(decision)
}

/** Closes the receipt of a peek, which took nothing that could be refunded or adjusted. */
function closeReceipt(decision: Decision): Decision {
  const receipt = receiptOf(decision)
  if (receipt !== undefined) receipt.isRefundable = false
  return decision
}

async function release<Subject>(
  { owner, onRefundFailed }: LimiterParts<Subject>,
  decision: Decision,
): Promise<void> {
  checkDecision(owner, decision)
  try {
    await releaseDecision(decision)
  } catch (error) {
    onRefundFailed(error, decision)
  }
}

async function close<Subject>(parts: LimiterParts<Subject>): Promise<void> {
  const { settings, stops, holdings, core } = parts
  for (const stop of stops.splice(0)) stop()
  parts.isClosed = true
  parts.waiting?.close()
  await holdings()?.releaseAll().catch(parts.onRefundFailed)
  await parts.candidate?.close()
  try {
    await core.close()
  } finally {
    settings.releaseStore()
  }
}
