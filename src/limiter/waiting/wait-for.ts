import { peerAddress } from '../../keys/request.js'
import { uncountedParts } from '../../stores/operation.js'
import { callAt } from '../../util/call-at.js'
import { catchMaybe, isPromise, type MaybePromise, settleAll } from '../../util/maybe-promise.js'
import { unlessAborted } from '../../util/on-abort.js'
import type { Access, ModeSwitch } from '../access-rules.js'
import { refundReceipt } from '../adjust-receipt.js'
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
import { releaseDecision } from '../holdings.js'
import { readWaitOptions, type WaitOptions } from './wait-options.js'
import type { Queue, Waiter } from './wait-queue.js'
import { WaitQueues } from './wait-queues.js'

interface WaitingOptions {
  readonly access: Access
  readonly modeSwitch: ModeSwitch
  /** Reports a decision, and returns the one that the caller gets. */
  readonly finish: Finish
  /** Called when the units of an aborted charge could not be refunded. */
  readonly onRefundFailed: (error: unknown, decision: Decision) => void
}

/** What the waiters of a limiter share. Each charges in its own async context when its turn comes. */
interface Waiting extends WaitingOptions {
  readonly core: LimiterCore
  readonly queues: WaitQueues
  arrivals: number
  isClosed: boolean
}

/** Creates the `waitFor` of a limiter. The first call creates its state. */
export function createWaiting(core: LimiterCore, options: WaitingOptions) {
  let waiting: Waiting | undefined
  const start = () => ({ ...options, core, queues: new WaitQueues(), arrivals: 0, isClosed: false })

  return {
    waitFor(subject: unknown, waitOptions?: WaitOptions): Promise<Decision> {
      waiting ??= start()
      return waitFor(waiting, subject, waitOptions)
    },
    /** Lets waiters try again if units came back to their keys. */
    retry: (keys: readonly { readonly key: string }[]) => waiting?.queues.retry(keys),
    /** Wakes all waiters if report mode is on, because no charge waits in that mode. */
    endIfReport() {
      if (options.modeSwitch.mode === 'report') waiting?.queues.wakeAll()
    },
    close() {
      waiting ??= start()
      waiting.isClosed = true
      waiting.queues.wakeAll()
    },
  }
}

async function waitFor(waiting: Waiting, subject: unknown, options: WaitOptions = {}): Promise<Decision> {
  const { access, finish } = waiting
  const { cost, ...bounds } = readWaitOptions(options)
  const arrival = waiting.arrivals++
  throwIfAborted(bounds.signal)
  const accessDecision = access.check && (await unlessAborted(access.check(subject), bounds.signal))
  if (accessDecision !== undefined) return finish(accessDecision, subject)
  const wait = { subject, arrival, ...bounds }
  return finish(await chargeWhenAllowed(waiting, wait, cost).catch(denyDisconnected), subject)
}

async function chargeWhenAllowed(
  waiting: Waiting,
  wait: Pick<Waiter, 'subject' | 'arrival' | 'deadlineMs' | 'signal'>,
  cost: number | undefined,
): Promise<Decision> {
  const { subject, signal } = wait
  const given = waiting.core.limits.resolveCharge(subject, cost)
  if (isPromise(given)) peerAddress(subject) // reading it makes Node.js cache it
  const parts = uncountedParts(isPromise(given) ? await unlessAborted(given, signal) : given)
  const client = parts.map(({ key }) => key).join(' ')
  const state = { hasPlace: false, queues: new Set<Queue>(), turn: undefined, wake() {} }
  const waiter: Waiter = { ...wait, parts, client, ...state }
  try {
    for (;;) {
      throwIfAborted(signal)
      const decision = await chargeOrQueue(waiting, waiter)
      if (decision !== undefined) return decision
      await sleep(waiter)
    }
  } finally {
    waiting.queues.leave(waiter)
  }
}

/** Returns the final decision; `undefined` if the waiter has entered a queue. */
function chargeOrQueue(waiting: Waiting, waiter: Waiter): MaybePromise<Decision | undefined> {
  const { queues, isClosed } = waiting
  const isNeverAllowed = waiter.parts.some(({ policy, cost }) => cost > policy.limit)
  const wait = isNeverAllowed ? undefined : queues.waitOf(waiter)
  if (wait !== undefined && mayWait(waiting, waiter, wait.untilMs)) return queues.enter(waiter, wait.queue)
  const denial = wait?.queue.denialOf(waiter)
  if (denial !== undefined) return denial
  const isDenied = isClosed ? wait !== undefined || waiter.hasPlace : wait && !queues.hasPlaceFor(waiter)
  return isDenied ? unchargedDecision('fail-closed') : chargeNow(waiting, waiter)
}

async function chargeNow(waiting: Waiting, waiter: Waiter): Promise<Decision | undefined> {
  const { core, queues, onRefundFailed } = waiting
  const { parts, subject, signal } = waiter
  let figures: readonly PartDecision[] = []
  queues.startCharge(waiter)
  try {
    const decision = await chargeParts(core, parts, subject, asDecided)
    if (signal?.aborted) await giveBack(decision, onRefundFailed)
    throwIfAborted(signal)
    figures = decision.parts
    if (decision.allowed || figures.length === 0) return decision
    if (!mayWait(waiting, waiter, queues.deniedUntilMs(parts, decision))) return decision
    return queues.enter(waiter) // before the charge ends, so that no waiter overtakes this one
  } finally {
    queues.endCharge(waiter, figures)
  }
}

/** Returns whether a waiter may wait until a time. */
function mayWait({ isClosed, modeSwitch, queues }: Waiting, waiter: Waiter, untilMs: number): boolean {
  if (isClosed || modeSwitch.mode === 'report' || !queues.hasPlaceFor(waiter)) return false
  return Math.max(untilMs, performance.now()) < waiter.deadlineMs
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
