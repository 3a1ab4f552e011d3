import type { EventEmitter } from 'node:events'
import { isTimeout } from '../pipe/guarded-store.js'
import { messageOf, type StoreError } from '../stores/store-error.js'
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

/**
 * Creates the function that reports that the store could not decide a charge. Without a listener for
 * `storeError`, it emits process warnings: what failed, what requests get now, and later that the store
 * decides again. Each limiter warns of the first time-out and of the first other error, which says more.
 */
export function storeFailureReporter<Subject>(
  events: EventEmitter<LimiterEvents<Subject>>,
  { context: { name }, onStoreError }: Pick<LimiterSettings, 'context' | 'onStoreError'>,
): (error: StoreError) => void {
  const limiter = name === undefined ? 'a limiter without a name' : `the limiter ${name}`
  const choice = typeof onStoreError === 'function' ? 'function' : onStoreError
  const setting = choice === 'function' ? 'a function' : `'${choice}'`
  let isWatching = false

  function warnWhenOver(): void {
    if (isWatching) return
    isWatching = true
    const onDecision = ({ source }: Decision) => {
      if (source !== 'store') return
      ;(events as EventEmitter).off('decision', onDecision)
      isWatching = false
      warnOnce(
        'HEADGATE_STORE_BACK',
        `headgate: the store decides the requests of ${limiter} again. Later failures are not reported, ` +
          'unless you listen to storeError.',
        name,
      )
    }
    ;(events as EventEmitter).on('decision', onDecision)
  }

  return function reportStoreError(error) {
    if (emit(events, 'storeError', [error])) return
    warnOnce(
      'HEADGATE_STORE_ERROR',
      `headgate: the store could not decide a request of ${limiter} (${messageOf(error)}). Requests that it ` +
        `cannot decide ${CONSEQUENCES[choice]} (onStoreError: ${setting}). This warning is not repeated. ` +
        'Another says when the store decides again. To log every occurrence, listen to ' +
        "limiter.events.on('storeError', …).",
      `${name} ${isTimeout(error)}`,
    )
    warnWhenOver()
  }
}
