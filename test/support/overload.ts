import type { OverloadGuard } from 'headgate/http'
import type { Handler } from './frameworks.js'
import { until } from './servers/wait.js'

/** The options of a guard whose limit is known. */
export const atMost = (limit: number) => ({ minLimit: limit, maxLimit: limit, maxWait: 0 }) as const

/** Requests that a handler has not answered yet. */
export function heldRequests() {
  const waiting: Parameters<Handler>[] = []
  const handle: Handler = (req, res, next) => {
    if (req.url === '/throw') return next(new Error('handler failed'))
    if (req.url === '/wait') waiting.push([req, res, next])
    else res.end('hello')
  }
  return {
    handle,
    waiting,
    /** Resolves once so many requests wait for their answer. */
    arrived: (count: number) =>
      until('requests have arrived', () => waiting.length === count, { everyMs: 1 }),
    answerAll() {
      for (const [, res] of waiting.splice(0)) res.end('late')
    },
  }
}

/** Returns functions that resolve once so many requests run, or wait. */
export function watch(guard: Pick<OverloadGuard, 'status'>) {
  const reach = (field: 'running' | 'waiting') => (count: number) =>
    until(`${count} are ${field}`, () => guard.status()[field] === count, { everyMs: 1 })
  return { runs: reach('running'), waits: reach('waiting') }
}
