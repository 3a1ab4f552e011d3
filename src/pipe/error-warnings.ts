import type { Store } from '../stores/store.js'
import { isUnsent, messageOf, type StoreError } from '../stores/store-error.js'
import { weakMemo } from '../util/memo.js'
import { processWide } from '../util/process-wide.js'
import { warnOnce } from '../util/warn-once.js'
import { isTimeout } from './errors.js'

/** What becomes of requests that the store cannot decide. */
const CONSEQUENCES = {
  allow: 'pass without any limit',
  deny: 'are denied',
  local: 'are limited by this process alone, in its memory',
  function: 'get what onStoreError returns',
} as const

/** The emitter of a limiter's decisions. */
export interface DecisionEvents {
  on(name: 'decision', listener: (decision: { readonly source: string }) => void): unknown
  off(name: 'decision', listener: (decision: { readonly source: string }) => void): unknown
}

/** A limiter whose store may fail. */
export interface WarnedLimiter {
  readonly store: Store
  readonly context: { readonly name: string | undefined }
  /** What it does with requests that the store cannot decide. A function chooses. */
  readonly onStoreError: Exclude<keyof typeof CONSEQUENCES, 'function'> | ((...args: never[]) => unknown)
  readonly fallbackShare: number
}

/** Tells stores apart: several limiters may have no name. Stores of one client are one. */
const numberOf = processWide('store-numbers', () => {
  let last = 0
  const numbers = weakMemo((_clientOrStore: object) => ++last)
  return (store: Store) => numbers(store.origin?.client ?? store)
})

/**
 * Returns whether an error lacks the reason why a call was not sent, because it was not known yet. A store that
 * replied has told it.
 */
const lacksReason = (error: StoreError) => isUnsent(error) && !error.replied && error.cause === undefined

/**
 * Creates the function that warns that the store could not decide a charge: once of a time-out and once of
 * another error, for each limiter and store. It says what failed, what requests get now, and later that the
 * store decides again. If the error lacks its reason, it warns once more, of the next error that has one.
 * `events` are those of the limiter.
 */
export function errorWarnings(
  events: DecisionEvents,
  { context: { name }, onStoreError, fallbackShare, store }: WarnedLimiter,
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
    const onDecision = ({ source }: { readonly source: string }) => {
      if (source !== 'store') return
      events.off('decision', onDecision)
      isWatching = false
      warnOnce(
        'HEADGATE_STORE_BACK',
        `headgate: the store decides the requests of ${limiter} again. Later failures of the same kind are ` +
          'not reported, unless you listen to storeError.',
        about,
      )
    }
    events.on('decision', onDecision)
  }

  return function warnOfError(error) {
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
