import type { Store } from '../stores/store.js'
import type { OnBreakerChange } from './circuit-breaker.js'
import type { Pipe } from './pipe.js'

/** How a limiter calls its store. */
export interface PipeOptions {
  /** The name of the limiter, for the channel `headgate:store`. */
  readonly limiter?: string | undefined
  /** Whether calls are published to that channel. Default true. */
  readonly isPublished?: boolean
  readonly timeoutMs: number
  /** The longest that a denial is cached. 0 turns the cache off, so that the store decides every charge. */
  readonly denyCacheMs: number
  readonly onChange?: OnBreakerChange
  /** Puts a pipe that tracks the units of undecided requests in front of another one. */
  readonly trackUndecided?: ((pipe: Pipe, store: Store) => Pipe) | undefined
}

/** A pipe whose refunds outlast an outage. */
export interface RefundingPipe extends Pipe {
  /** Tries once more to send the queued refunds. Those that still cannot be sent are lost. */
  close(): Promise<void>
}
