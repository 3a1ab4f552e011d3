import type { Charge, ChargeResult } from 'headgate/store'
import { type Pipe, request } from '../../src/pipe/pipe.js'
import type { Parts } from '../../src/testing/conformance/store-calls.js'
import type { MaybePromise } from '../../src/util/maybe-promise.js'

/**
 * Charges a guarded store: its verdict, or a promise of it. Throws or rejects with the error in its place.
 */
export function chargeGuarded(store: Pipe, parts: Parts): MaybePromise<ChargeResult> {
  return request<Charge>(store, { type: 'charge', parts })
}
