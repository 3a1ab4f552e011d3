import { environment } from '../platform.js'
import type { Decision } from './decision.js'
import { FAILURES, type LimiterEvents } from './events.js'
import { identitiesOf } from './identities.js'

import type { AnyLimiter, MiddlewareLimiter } from './limiter.js'

type EventName = keyof LimiterEvents<unknown>

/** By limiter: stops the log that `DEBUG` has started. */
const stops = new WeakMap<object, () => void>()

/** Returns whether `DEBUG` has headgate among its names, as in `DEBUG=headgate,express:*`. */
export function isDebugged(): boolean {
  const names = environment('DEBUG')?.split(/[\s,]+/) ?? []
  return names.some((name) => /^(headgate(:\*)?|\*)$/.test(name))
}

/**
 * Logs the events of a limiter to standard error if `DEBUG` names headgate, and the identities of each
 * decision. Does not use `logEvents`, so that only bundles of programs that call it contain its code.
 */
export function logIfDebugged<Subject>(limiter: MiddlewareLimiter<Subject>): void {
  if (!isDebugged()) return
  const { name = 'a limiter' } = limiter
  const { events }: AnyLimiter = limiter
  const names = [...Object.keys(FAILURES), 'decision', 'nearLimit', 'settings', 'storeState'] as EventName[]
  const listeners = names.map((event) => {
    const log = (about: unknown, cause?: unknown) => {
      const details = cause instanceof Error ? [cause] : identitiesOf(about as Decision)
      console.error('headgate: %s: %s %o', name, event, about, ...details)
    }
    events.on(event, log)
    return () => events.off(event, log)
  })
  stops.set(limiter, () => {
    for (const stop of listeners) stop()
  })
}

/** Stops the log of a limiter, because `logEvents` logs its events. */
export function stopDebugLog(limiter: object): void {
  stops.get(limiter)?.()
}
