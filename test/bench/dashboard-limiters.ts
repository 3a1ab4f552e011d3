import { createLimiter, fixedWindow, memoryStore, type Store } from 'headgate'
import { type LimiterWatch, watchAll } from '../../src/dashboard/figures/limiter-watch.js'
import { type Inspection, inspectionOf } from '../../src/limiter/inspection.js'

export type Sent = ReturnType<typeof requestFrom>

export function limiterOf(name: string, limit: number, store: Store = memoryStore()) {
  return createLimiter<Sent>({ name, policy: fixedWindow({ limit, window: '1d' }), store })
}

export function watchesOf(
  limiters: readonly ReturnType<typeof limiterOf>[],
  now: () => number = Date.now,
): readonly LimiterWatch[] {
  return watchAll(
    limiters.map((limiter) => {
      return { name: String(limiter.name), limiter, inspection: inspectionOf(limiter) as Inspection }
    }),
    undefined,
    now,
  )
}

export function requestFrom(a: number, b: number) {
  const remoteAddress = `${10 + (b >> 16)}.${a}.${(b >> 8) & 255}.${b & 255}`
  return { method: 'POST', url: `/orders/${b}`, headers: {}, socket: { remoteAddress } }
}
