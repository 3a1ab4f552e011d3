import type { Store } from 'headgate'
import { customStore } from 'headgate/store'
import type { PipeOptions } from '../../src/pipe/pipe-options.js'
import { remoteAccessOf } from '../../src/pipe/remote-access.js'
import { RemotePipe } from '../../src/pipe/remote-pipe.js'

/** A pipe without a denial cache. */
export type GuardedStore = RemotePipe

export function guardStore(store: Store, options: Omit<PipeOptions, 'denyCacheMs'>): GuardedStore {
  return new RemotePipe(remoteAccessOf(store) ? store : customStore(store), { denyCacheMs: 0, ...options })
}
