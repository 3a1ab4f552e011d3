import { fixedWindow, type Policy, slidingWindow, tokenBucket } from 'headgate'

/** Units per key and window; the window is far longer than a run. */
export const LIMIT = 10
const window = '20d'
const bucket = tokenBucket({ capacity: LIMIT, refill: LIMIT, every: window })

/** The policies of the limits that each client is charged with. A client has a key in each. */
export const CONTENDERS = {
  'token bucket': [bucket],
  'two limits': [bucket, fixedWindow({ limit: LIMIT, window })],
  'sliding window': [slidingWindow({ limit: LIMIT, window })],
} satisfies Readonly<Record<string, readonly Policy[]>>

export type Contender = keyof typeof CONTENDERS
