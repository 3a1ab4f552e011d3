import type { Handler } from './frameworks.js'
import { until } from './servers/wait.js'

/** Requests that a handler has not responded to yet. */
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
    /** Resolves once this many requests wait for their response. */
    arrived: (count: number) =>
      until('requests have arrived', () => waiting.length === count, { everyMs: 1 }),
    answerAll() {
      for (const [, res] of waiting.splice(0)) res.end('late')
    },
  }
}
