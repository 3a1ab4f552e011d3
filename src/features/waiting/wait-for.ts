import { peerAddress } from '../../keys/request.js'
import type { Access, ModeSwitch } from '../../limiter/access-rules.js'
import type { LimiterCore } from '../../limiter/core.js'
import {
  asDecided,
  type Decision,
  denyDisconnected,
  type Finish,
  receiptOf,
  unchargedDecision,
} from '../../limiter/decision.js'
import { refundReceipt } from '../../limiter/ledger.js'
import { uncountedParts } from '../../stores/operation.js'
import { callAt } from '../../util/call-at.js'
import { isPromise, type MaybePromise } from '../../util/maybe-promise.js'
import { onAbort, unlessAborted } from '../../util/on-abort.js'
import { releaseDecision } from '../holdings.js'
import { readWaitOptions, type WaitOptions } from './wait-options.js'
import { denialIn } from './wait-queue.js'
import { createWaitQueues } from './wait-queues.js'
import { createWaiter, exactMs, type Wait, type Waiter } from './waiter.js'

interface WaitingOptions {
  readonly access: Access
  readonly modeSwitch: ModeSwitch
  /** Reports a decision, and returns what the caller is given. */
  readonly finish: Finish
  /** Called when the units of an aborted charge could not be refunded. */
  readonly onRefundFailed: (error: unknown, decision: Decision) => void
}

/** Creates `waitFor` of a limiter. A waiter charges in its own async context when its turn comes. */
export function createWaiting(
  { resolveParts, chargeParts }: LimiterCore,
  { access, modeSwitch, finish, onRefundFailed }: WaitingOptions,
) {
  /** Charges parts in a way that no ban counts a denial. */
  const charge = (parts: Waiter['parts'], subject: unknown) => chargeParts(parts, subject, asDecided)
  const queues = createWaitQueues()
  let arrivals = 0
  let isClosed = false

  async function waitFor(subject: unknown, options: WaitOptions = {}): Promise<Decision> {
    const { cost, ...bounds } = readWaitOptions(options)
    const arrival = arrivals++
    throwIfAborted(bounds)
    const accessDecision = access.check && (await unlessAborted(access.check(subject), bounds.signal))
    if (accessDecision !== undefined) return finish(accessDecision, subject)
    const decision = await chargeWhenAllowed(subject, cost, { arrival, ...bounds }).catch(denyDisconnected)
    return finish(decision, subject)
  }

  async function chargeWhenAllowed(
    subject: unknown,
    cost: number | undefined,
    wait: Omit<Wait, 'subject' | 'parts'>,
  ): Promise<Decision> {
    const given = resolveParts(subject, cost)
    if (isPromise(given)) peerAddress(subject) // Node.js remembers it now
    const parts = isPromise(given) ? await unlessAborted(given, wait.signal) : given
    return waitInTurn(createWaiter({ subject, parts: uncountedParts(parts), ...wait }))
  }

  async function waitInTurn(waiter: Waiter): Promise<Decision> {
    const stopAlarms = startAlarms(waiter)
    try {
      for (;;) {
        throwIfAborted(waiter)
        const decision = denialOf(waiter) ?? (await chargeOrQueue(waiter))
        if (decision !== undefined) return decision
        await waiter.turn
      }
    } finally {
      stopAlarms()
      queues.leave(waiter)
    }
  }

  /** Returns the denial of a waiter whose wait has ended without a turn. */
  function denialOf(waiter: Waiter): Decision | undefined {
    const { queue, hasTurn } = waiter
    if (queue === undefined || (hasTurn && !isClosed)) return undefined
    return denialIn(queue, waiter) ?? (isClosed ? unchargedDecision('fail-closed') : undefined)
  }

  /** Returns the final decision; `undefined` if the waiter is in a queue now. */
  function chargeOrQueue(waiter: Waiter): MaybePromise<Decision | undefined> {
    const ahead = queues.queueAhead(waiter)
    if (ahead === undefined || isNeverAllowed(waiter)) return chargeNow(waiter)
    if (isClosed || !queues.hasPlaceFor(waiter))
      return denialIn(ahead, waiter) ?? unchargedDecision('fail-closed')
    if (!mayWait(waiter, ahead.notBeforeMs)) return denialIn(ahead, waiter) ?? chargeNow(waiter)
    queues.move(waiter, ahead)
    return undefined
  }

  function chargeNow(waiter: Waiter): MaybePromise<Decision | undefined> {
    const decision = charge(waiter.parts, waiter.subject)
    return isPromise(decision) ? chargeLater(waiter, decision) : endOrQueue(waiter, decision)
  }

  /** Awaits a charge. If it is denied but units came back meanwhile, charges again. */
  async function chargeLater(waiter: Waiter, later: MaybePromise<Decision>) {
    queues.startCharge(waiter)
    try {
      for (let pending = later; ; pending = charge(waiter.parts, waiter.subject)) {
        const returnsBefore = queues.returnsOf(waiter)
        const decision = await pending
        if (waiter.signal?.aborted) await giveBack(decision, onRefundFailed)
        throwIfAborted(waiter)
        const isOutdated = queues.returnsOf(waiter) > returnsBefore
        if (decision.allowed || !isOutdated || !mayWait(waiter, 0)) {
          return endOrQueue(waiter, decision, isOutdated)
        }
      }
    } finally {
      queues.endCharge(waiter)
    }
  }

  function endOrQueue(waiter: Waiter, decision: Decision, isOutdated = false): Decision | undefined {
    waiter.figures = isOutdated ? [] : decision.parts
    if (decision.allowed || decision.parts.length === 0) return decision
    const waitsMs = waiter.parts.map(({ key }, i) =>
      exactMs(waiter, key, decision.parts[i]?.retryAfterMs ?? 0),
    )
    if (!mayWait(waiter, performance.now() + Math.max(...waitsMs))) return decision
    queues.retreat(waiter, decision)
    return undefined
  }

  /** Returns whether a waiter may wait until a time. */
  function mayWait(waiter: Waiter, untilMs: number): boolean {
    if (isClosed || modeSwitch.mode === 'report' || untilMs === Number.POSITIVE_INFINITY) return false
    return Math.max(untilMs, performance.now()) < waiter.deadlineMs && queues.hasPlaceFor(waiter)
  }

  function close(): void {
    isClosed = true
    queues.wakeAll()
  }

  /** Wakes all waiters when report mode begins, in which no charge waits. */
  function endIfReport(): void {
    if (modeSwitch.mode === 'report') queues.wakeAll()
  }

  /** Lets waiters retry whose keys got units back. */
  function retry(keys: readonly { readonly key: string }[]): void {
    if (!isClosed) queues.retryKeys(keys)
  }

  return { waitFor, retry, endIfReport, close }
}

/** Refunds and releases the units that the charge of an aborted wait took. */
async function giveBack(
  decision: Decision,
  onFailed: (error: unknown, decision: Decision) => void,
): Promise<void> {
  for (const step of [() => refundReceipt(receiptOf(decision)), () => releaseDecision(decision)]) {
    try {
      await step()
    } catch (error) {
      onFailed(error, decision)
    }
  }
}

function isNeverAllowed({ parts }: Waiter): boolean {
  return parts.some(({ policy, cost }) => cost > policy.limit)
}

/** Throws the reason of a signal that has aborted. Some polyfills have no `throwIfAborted`. */
function throwIfAborted({ signal }: { readonly signal?: AbortSignal | undefined }): void {
  if (signal?.aborted) throw signal.reason
}

/** Wakes a waiter at its deadline, and when its signal aborts. Returns a function that stops both. */
function startAlarms(waiter: Waiter): () => void {
  const { deadlineMs, signal } = waiter
  const wake = () => waiter.wake()
  const cancel = deadlineMs === Number.POSITIVE_INFINITY ? undefined : callAt(deadlineMs, wake)
  const unsubscribe = signal && onAbort(signal, wake)
  return () => {
    cancel?.()
    unsubscribe?.()
  }
}
