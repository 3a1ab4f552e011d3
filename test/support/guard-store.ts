import type { Store } from 'headgate'
import { type RemoteOptions, RemotePipe } from '../../src/pipe/remote-pipe.js'

/** A pipe without a denial cache. */
export type GuardedStore = RemotePipe

export function guardStore(store: Store, options: Omit<RemoteOptions, 'denyCacheMs'>): GuardedStore {
  return new RemotePipe(store, { denyCacheMs: 0, ...options })
}
