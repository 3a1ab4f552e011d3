import { localStatesOf } from '../stores/shared/local-states.js'
import type { Store } from '../stores/store.js'
import { LocalPipe } from './local-pipe.js'
import type { PipeOptions } from './pipe.js'
import type { RemotePipe } from './remote-pipe.js'
import { remoteSupportOf } from './remote-support.js'

/** The pipe from a limiter to its store. */
export type LimiterPipe = LocalPipe | RemotePipe

/**
 * Creates the pipe from a limiter to its store: one that `readStore` accepted, or the limiter's own memory.
 */
export function limiterPipe(store: Store, options: PipeOptions): LimiterPipe {
  const remote = localStatesOf(store) === undefined ? remoteSupportOf(store) : undefined
  if (remote !== undefined) return remote.pipe(store, options)
  return new LocalPipe(store, options.timeoutMs, options.trackUndecided?.(new LocalPipe(store), store))
}
