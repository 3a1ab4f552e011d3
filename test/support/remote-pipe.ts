import type { Store } from 'headgate'
import { type Charge, type ChargeResult, customStore } from 'headgate/store'
import type { PipeOptions } from '../../src/pipe/pipe.js'
import { type Pipe, request } from '../../src/pipe/pipe.js'
import { RemotePipe } from '../../src/pipe/remote-pipe.js'
import { remoteSupportOf } from '../../src/pipe/remote-support.js'
import type { Parts } from '../../src/testing/conformance/store-calls.js'
import type { MaybePromise } from '../../src/util/maybe-promise.js'

/** Creates a pipe to a store, without a denial cache. */
export function remotePipe(store: Store, options: Omit<PipeOptions, 'denyCacheMs'>): RemotePipe {
  return new RemotePipe(remoteSupportOf(store) ? store : customStore(store), { denyCacheMs: 0, ...options })
}

/** Charges through a pipe: the verdict, or a promise of it. Throws or rejects with the error in its place. */
export function chargePipe(pipe: Pipe, parts: Parts): MaybePromise<ChargeResult> {
  return request<Charge>(pipe, { type: 'charge', parts })
}
