import { createLimiter, type Limiter, slidingWindow } from 'headgate'
import { redisStore } from 'headgate/redis'
import type { Redis } from 'ioredis'

/** How many requests a client sends, and how many milliseconds pass between two of them. */
export interface AdjustQuestion {
  readonly requests: number
  readonly everyMs: number
}

/** What came of the changes of a client. */
export interface AdjustCounts {
  readonly failed: number
  /** How long each change took, in milliseconds. */
  readonly tookMs: readonly number[]
}

/** The units that each request takes in the end: charged 1, adjusted to 4, 2 as a penalty, 1 as a reward. */
export const UNITS_EACH = 5

/** Creates a limiter that never denies, for a key that several processes share. */
export function busyLimiter(client: Redis): Limiter<string> {
  const policy = slidingWindow({ limit: 1e9, window: '1h' })
  return createLimiter({ name: 'busy', policy, key: (user: string) => user, store: redisStore(client) })
}
