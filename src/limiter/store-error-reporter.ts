import type { EventEmitter } from 'node:events'
import { isTimeout } from '../pipe/errors.js'
import type { Store } from '../stores/store.js'
import { isUnsent, messageOf, type StoreError } from '../stores/store-error.js'
import { weakMemo } from '../util/memo.js'
import { processWide } from '../util/process-wide.js'
import { warnOnce } from '../util/warn-once.js'
import type { Decision } from './decision.js'
import { emit, type LimiterEvents } from './events.js'
import type { LimiterSettings } from './read-options.js'

/** What becomes of requests that the store cannot decide. */
const CONSEQUENCES = {
  allow: 'pass without any limit',
  deny: 'are denied',
  local: 'are limited by this process alone, in its memory',
  function: 'get what onStoreError returns',
} as const

type ReportedSettings = Pick<LimiterSettings, 'context' | 'onStoreError' | 'fallbackShare' | 'store'>

/** Tells stores apart: several limiters may have no name. Stores of one client are one. */
const numberOf = processWide('store-numbers', () => {
  let last = 0
  const numbers = weakMemo((_clientOrStore: object) => ++last)
  return (store: Store) => numbers(store.origin?.client ?? store)
})

/** Returns whether an error lacks the reason why a call was not sent, because it was not known yet. */
const lacksReason = (error: StoreError) => isUnsent(error) && error.cause === undefined

/**
 * Creates the function that reports that the store could not decide a charge. Without a listener for
 * `storeError`, it warns once of a time-out and once of another error, for each limiter and store: what
 * failed, what requests get now, and later that the store decides again. If the error lacks its reason, it
 * warns once more, of the next error that has one.
 */
export function storeErrorReporter<Subject>(
  events: EventEmitter<LimiterEvents<Subject>>,
  { context: { name }, onStoreError, fallbackShare, store }: ReportedSettings,
): (error: StoreError) => void {
  const limiter = name === undefined ? 'a limiter without a name' : `the limiter ${name}`
  const choice = typeof onStoreError === 'function' ? 'function' : onStoreError
  const share = choice === 'local' ? `, fallbackShare: ${fallbackShare}` : ''
  const setting = choice === 'function' ? 'a function' : `'${choice}'${share}`
  let isWatching = false
  let isReasonMissing = false

  function warnWhenOver(about: string): void {
    if (isWatching) return
    isWatching = true
    const onDecision = ({ source }: Decision) => {
      if (source !== 'store') return
      ;(events as EventEmitter).off('decision', onDecision)
      isWatching = false
      warnOnce(
        'HEADGATE_STORE_BACK',
        `headgate: the store decides the requests of ${limiter} again. Later failures of the same kind are ` +
          'not reported, unless you listen to storeError.',
        about,
      )
    }
    ;(events as EventEmitter).on('decision', onDecision)
  }

  return function reportStoreError(error) {
    if (emit(events, 'storeError', [error])) return
    const hasTimedOut = isTimeout(error)
    const isReason = isReasonMissing && !hasTimedOut && !lacksReason(error)
    const about = `${limiter} ${choice} ${numberOf(store)} ${hasTimedOut} ${isReason}`
    const isReported = warnOnce(
      'HEADGATE_STORE_ERROR',
      `headgate: the store could not decide a request of ${limiter} (${messageOf(error)}). Requests that it ` +
        `cannot decide ${CONSEQUENCES[choice]} (onStoreError: ${setting}). Time-outs are reported once, and so ` +
        'are other errors. Another warning says when the store decides again. To log every occurrence, ' +
        "listen to limiter.events.on('storeError', …).",
      about,
    )
    if (isReported && !hasTimedOut) isReasonMissing = lacksReason(error)
    if (isReported) warnWhenOver(about)
  }
}
