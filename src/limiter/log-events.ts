import type { Listeners } from '../util/emitter.js'
import { isDebugged, stopDebugLog } from './debug-log.js'
import type { Decision } from './decision.js'
import { FAILURES, type LimiterEvents } from './events.js'
import { identitiesOf } from './identities.js'

import type { AnyLimiter, MiddlewareLimiter } from './limiter.js'

import type { AppliedSettings } from './settings-source.js'

/** Writes a log entry: its fields, and a message. */
export type WriteEntry = (fields: Readonly<Record<string, unknown>>, message: string) => void

type EventListeners = Listeners<LimiterEvents<unknown>>
type EventName = keyof EventListeners

/** A logger: pino, `console`, or another object with these methods. */
export interface EventLogger {
  readonly debug: WriteEntry
  readonly info: WriteEntry
  readonly warn: WriteEntry
}

/**
 * Logs the events of a limiter to pino, `console` or a similar logger. Returns a function that stops it.
 *
 * - `warn`: failures of the store, lost limits, failed refunds and settings, with the error as `err`, and a
 *   circuit breaker that opens.
 * - `info`: denials, clients near a limit, changes of settings, and other changes of circuit breakers.
 * - `debug`: each decision, if `DEBUG=headgate` is in the environment.
 *
 * Entries have the fields `limiter`, the limiter's name, and `event`. Entries about a decision also have its
 * figures, the limiter's `mode`, and the identities as stores keep them.
 *
 * Without a call of `logEvents`, `DEBUG=headgate` logs the events of all limiters to standard error.
 *
 * @example
 * ```ts
 * import { logEvents, rateLimit } from 'headgate'
 * import { pino } from 'pino'
 *
 * const api = rateLimit({ name: 'api', limit: 100, window: '1m' })
 * logEvents(api.limiter, pino())
 * ```
 */
export function logEvents<Subject>(limiter: MiddlewareLimiter<Subject>, logger: EventLogger): () => void {
  stopDebugLog(limiter)
  const { name } = limiter
  const { events }: AnyLimiter = limiter
  const title = name === undefined ? 'headgate' : `headgate: ${name}`
  const stops: (() => void)[] = []

  function on<Name extends EventName>(event: Name, listener: EventListeners[Name]): void {
    events.on(event, listener)
    stops.push(() => events.off(event, listener))
  }

  function onFailure(event: EventName, problem: string): void {
    on(event, (err: unknown) => logger.warn({ limiter: name, event, err }, `${title}: ${problem}`))
  }

  on('denied', (decision: Decision) => {
    logger.info(fieldsOf(limiter, 'denied', decision), `${title}: ${outcomeOf(limiter, decision)}`)
  })
  on('nearLimit', ({ name, limit, remaining }, decision: Decision) => {
    logger.info(
      fieldsOf(limiter, 'nearLimit', decision),
      `${title}: a client has ${remaining} of ${limit} left in ${name}`,
    )
  })
  on('storeState', (state: string, err: unknown, server?: string) => {
    const details = { ...(server !== undefined && { server }), ...(err !== undefined && { err }) }
    const level = state === 'open' ? 'warn' : 'info'
    const breaker = server === undefined ? 'the circuit breaker' : `the circuit breaker of ${server}`
    logger[level](
      { limiter: name, event: 'storeState', state, ...details },
      `${title}: ${breaker} is ${state}`,
    )
  })
  for (const [event, [, problem]] of Object.entries(FAILURES)) onFailure(event as EventName, problem)
  on('settings', (settings: AppliedSettings) => {
    logger.info(
      { limiter: name, event: 'settings', ...settings },
      `${title}: a settings document is in force`,
    )
  })
  if (isDebugged())
    on('decision', (decision: Decision) => {
      logger.debug(fieldsOf(limiter, 'decision', decision), `${title}: ${outcomeOf(limiter, decision)}`)
    })
  return () => {
    for (const stop of stops.splice(0)) stop()
  }
}

/** What entries about a decision say of its limiter. */
type Origin = Pick<MiddlewareLimiter<never>, 'name' | 'mode'>

function fieldsOf(
  { name, mode }: Origin,
  event: string,
  decision: Decision,
): Readonly<Record<string, unknown>> {
  const { limitName, source, limit, remaining, retryAfterMs } = decision
  const figures = { limitName, source, limit, remaining, retryAfterMs, identities: identitiesOf(decision) }
  return { limiter: name, event, mode, ...figures }
}

function outcomeOf(origin: Origin, { allowed, limitName, source }: Decision): string {
  const denied = origin.mode === 'report' ? 'would have been denied' : 'denied'
  return `${allowed ? 'allowed' : denied} by ${limitName || source}`
}
