import { peerAddress } from '../../keys/request.js'
import { isIsolate } from '../../platform.js'
import { uncountedParts } from '../../stores/operation.js'
import { callAt } from '../../util/call-at.js'
import { catchMaybe, isPromise, type MaybePromise, settleAll } from '../../util/maybe-promise.js'
import { unlessAborted } from '../../util/on-abort.js'
import type { Access, ModeSwitch } from '../access-rules.js'
import { releaseDecision } from '../concurrency/held-by-decision.js'
import { chargeParts, type LimiterCore } from '../core.js'
import {
  asDecided,
  type Decision,
  denyDisconnected,
  type Finish,
  type PartDecision,
  receiptOf,
  unchargedDecision,
} from '../decision.js'
import { refundReceipt } from '../refund-receipt.js'
import { readWaitOptions, type WaitOptions } from './wait-options.js'
import type { KeyWait, Queue, Waiter } from './wait-queue.js'
import { WaitQueues } from './wait-queues.js'

export interface WaitingOptions {
  readonly access: Access
  readonly modeSwitch: ModeSwitch
  /** Reports a decision, and returns the one that the caller gets. */
  readonly finish: Finish
  /** Called when the units of an aborted charge could not be refunded. */
  readonly onRefundFailed: (error: unknown, decision: Decision) => void
  /** Whether the limiter is closed, so that no charge may wait. */
  readonly isClosed: boolean
}

/** What the waiters of a limiter share. Each charges in its own async context when its turn comes. */
interface WaitingState extends Omit<WaitingOptions, 'isClosed'> {
  readonly core: LimiterCore
  readonly queues: WaitQueues
  arrivals: number
  /** How often the rules have changed. */
  changes: number
  isClosed: boolean
}

/** The waiters of a limiter. */
export type Waiting = ReturnType<typeof createWaiting>

/** Creates the `waitFor` of a limiter. */
export function createWaiting(core: LimiterCore, options: WaitingOptions) {
  const state = { queues: new WaitQueues(), arrivals: 0, changes: 0 }
  const waiting: WaitingState = { ...options, core, ...state }
  return {
    waitFor: (subject: unknown, waitOptions?: WaitOptions) =>
      waitFor(isIsolate() ? aloneIn(waiting) : waiting, subject, waitOptions),
    /** Lets waiters try again if units came back to their keys. */
    retry: (keys: readonly { readonly key: string }[]) => waiting.queues.retry(keys),
    /** Lets all waiters resolve their charges anew, because limits, access rules or the mode have changed. */
    onRulesChanged() {
      waiting.changes += 1
      waiting.queues.wakeAll()
    },
    close() {
      waiting.isClosed = true
      waiting.queues.wakeAll()
    },
  }
}

/**
 * Returns the same state, but with its own queues. On isolates, no other request can wake a waiter, so it
 * charges again at the retry time that the store gave.
 */
function aloneIn(waiting: WaitingState): WaitingState {
  return Object.assign(Object.create(waiting), { queues: new WaitQueues() })
}

/** In place of what options return after the wait is over. */
const OVER = Symbol()

async function waitFor(
  waiting: WaitingState,
  subject: unknown,
  options: WaitOptions = {},
): Promise<Decision> {
  const arrival = waiting.arrivals++
  const bounds = readWaitOptions(options)
  const rules = { parts: [], client: '', placeOf: undefined, changes: 0 }
  const state = { queues: new Set<Queue>(), slept: new Set<string>(), holds: new Map<Queue, number>() }
  const waiter: Waiter = { subject, arrival, ...bounds, ...rules, ...state, turn: undefined, wake() {} }
  return waiting.finish(await chargeWhenAllowed(waiting, waiter).catch(denyDisconnected), subject)
}

/** Charges a waiter each time it wakes, as if it had just come, but at its place in the order of arrival. */
async function chargeWhenAllowed(waiting: WaitingState, waiter: Waiter): Promise<Decision> {
  try {
    for (;;) {
      throwIfAborted(waiter.signal)
      const decision = (await resolveCharge(waiting, waiter)) ?? (await chargeOrQueue(waiting, waiter))
      if (decision !== undefined) return decision
      if (waiter.changes === waiting.changes) await sleep(waiter)
    }
  } finally {
    waiting.queues.end(waiter)
  }
}

/**
 * Resolves with what an option function returned, or with `OVER` once a waiter's time is over. Meanwhile,
 * those behind it may go first: a slow look-up holds up nobody else.
 */
async function laterOption<T>(
  { queues }: WaitingState,
  waiter: Waiter,
  given: Promise<T>,
): Promise<T | typeof OVER> {
  const { deadlineMs, signal, placeOf } = waiter
  queues.stepAside(waiter)
  if (placeOf === undefined || deadlineMs === Number.POSITIVE_INFINITY) return unlessAborted(given, signal)
  let cancel: (() => void) | undefined
  const over = new Promise<typeof OVER>((resolve) => {
    cancel = callAt(deadlineMs, () => resolve(OVER))
  })
  return unlessAborted(Promise.race([given, over]), signal).finally(cancel)
}

/**
 * Resolves what a waiter charges, by the rules in force now. Returns the decision if the access rules decide.
 * If the wait is over, leaves the charge as it is.
 */
async function resolveCharge(waiting: WaitingState, waiter: Waiter): Promise<Decision | undefined> {
  const { core, access, queues, isClosed } = waiting
  const { subject, cost, deadlineMs, placeOf } = waiter
  if (placeOf !== undefined && (isClosed || performance.now() >= deadlineMs)) return undefined
  const polling = core.beforeCharge?.()
  if (polling !== undefined) await polling
  waiter.changes = waiting.changes
  const checked = access.check?.(subject)
  const accessDecision = isPromise(checked) ? await laterOption(waiting, waiter, checked) : checked
  if (accessDecision === OVER) return undefined
  if (accessDecision !== undefined) return accessDecision
  const given = core.limits.resolveCharge(subject, cost)
  if (isPromise(given)) peerAddress(subject) // reading it makes Node.js cache it
  const resolved = isPromise(given) ? await laterOption(waiting, waiter, given) : given
  if (resolved === OVER) return undefined
  const parts = uncountedParts(resolved)
  const charged = parts.filter((part) => part.cost > 0)
  const client = charged.map(({ key }) => key).join(' ')
  if (client !== waiter.client) queues.leave(waiter)
  waiter.client = client
  waiter.parts = parts
  return undefined
}

/** Returns the final decision; `undefined` if the waiter has entered a queue. */
function chargeOrQueue(waiting: WaitingState, waiter: Waiter): MaybePromise<Decision | undefined> {
  const { queues, isClosed } = waiting
  const { parts } = waiter
  queues.release(waiter)
  const isNeverAllowed = parts.some(({ policy, cost }) => cost > policy.limit)
  const wait = isNeverAllowed ? undefined : queues.waitOf(waiter)
  if (wait !== undefined && mayWait(waiting, waiter, wait)) return queues.enter(waiter, wait)
  const denial = wait?.queue.denialOf(waiter)
  if (denial !== undefined) return denial
  const isDenied = isClosed ? parts.length > 0 : wait !== undefined && !queues.hasPlaceFor(waiter)
  return isDenied ? unchargedDecision('fail-closed') : chargeNow(waiting, waiter)
}

/** Charges a waiter. Returns the decision; `undefined` if it was denied and waits again. */
async function chargeNow(waiting: WaitingState, waiter: Waiter): Promise<Decision | undefined> {
  const { core, queues, onRefundFailed } = waiting
  const { parts, subject, signal } = waiter
  let figures: readonly PartDecision[] = []
  let decision: Decision
  queues.startCharge(waiter)
  try {
    decision = await chargeParts(core, parts, subject, asDecided)
    if (signal?.aborted) await giveBack(decision, onRefundFailed)
    throwIfAborted(signal)
    figures = decision.parts
  } finally {
    queues.endCharge(waiter, figures)
  }
  if (decision.allowed || figures.length === 0 || decision.retryAfterMs === Number.POSITIVE_INFINITY)
    return decision
  const wait = queues.waitOf(waiter)
  return mayWait(waiting, waiter, wait) ? queues.enter(waiter, wait) : decision
}

/** Returns whether a waiter may begin a wait. */
function mayWait(
  { isClosed, modeSwitch, queues }: WaitingState,
  waiter: Waiter,
  wait: KeyWait | undefined,
): boolean {
  if (isClosed || modeSwitch.mode === 'report' || !queues.hasPlaceFor(waiter)) return false
  return Math.max(wait?.earliestMs ?? 0, performance.now()) < waiter.deadlineMs
}

/** Sleeps until it is the waiter's turn, or its wait ends. Rejects if its signal aborts. */
async function sleep(waiter: Waiter): Promise<void> {
  const { turn, deadlineMs, signal } = waiter
  const cancel = deadlineMs === Number.POSITIVE_INFINITY ? undefined : callAt(deadlineMs, () => waiter.wake())
  try {
    await unlessAborted(turn, signal)
  } finally {
    cancel?.()
  }
}

/** Refunds and releases the units that the charge of an aborted wait took. */
async function giveBack(
  decision: Decision,
  onFailed: (error: unknown, decision: Decision) => void,
): Promise<void> {
  const steps = [() => refundReceipt(receiptOf(decision)), () => releaseDecision(decision)]
  await settleAll(steps, (step) => catchMaybe(step, (error) => onFailed(error, decision)))
}

/** Throws the reason of a signal that has aborted. Some polyfills have no `throwIfAborted`. */
function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw signal.reason
}
