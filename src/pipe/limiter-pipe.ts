import { localStatesOf } from '../stores/shared/local-states.js'
import type { Store } from '../stores/store.js'
import { LocalPipe } from './local-pipe.js'
import { type RemoteOptions, RemotePipe } from './remote-pipe.js'

/** The pipe from a limiter to its store. */
export type LimiterPipe = RemotePipe | LocalPipe

/** Creates the pipe from a limiter to its store. */
export function limiterPipe(store: Store, options: RemoteOptions): LimiterPipe {
  if (localStatesOf(store) === undefined) return new RemotePipe(store, options)
  const front = options.holdUndecided?.(new LocalPipe(store), store)
  return new LocalPipe(store, options.timeoutMs, front)
}
