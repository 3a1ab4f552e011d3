import { givesUnitsBack, keysOf, type ResultOf } from '../stores/operation.js'
import type { Call, Layer } from './call.js'
import type { DenialCache } from './denial-cache.js'
import type { DenialTimes } from './lease/leases.js'

/**
 * Creates the layer that repeats the denials in a cache: with `source: 'deny-cache'`, without a promise, and
 * also while the store is down. Decisions that took no promise are not recorded.
 *
 * An operation that gives units back invalidates denials, whichever limiter sends it: when it is sent, for
 * charges in flight, and when it is done, for charges sent meanwhile. One sent by another process takes
 * effect here within `maxMs`.
 */
export function denialLayer(cache: DenialCache, { minMs, maxMs }: DenialTimes): Layer {
  function invalidate({ operation }: Call): void {
    if (givesUnitsBack(operation)) cache.invalidate(keysOf(operation))
  }

  return {
    before(call) {
      const { operation } = call
      if (operation.type === 'charge') return cache.find(operation.parts, maxMs)
      invalidate(call)
      return undefined
    },
    after(call, outcome) {
      const { operation, sentAtMs } = call
      if (operation.type !== 'charge') invalidate(call)
      else if (maxMs > 0 && call.isSettled && !(outcome instanceof Error)) {
        const result = outcome as ResultOf<typeof operation>
        cache.record(operation.parts, result, sentAtMs, minMs)
      }
      return outcome
    },
    late: invalidate,
  }
}
