import { fixedWindow, type Policy, slidingWindow, tokenBucket } from 'headgate'

const LIMIT = 100
const WINDOW_MS = 60_000

/** The policies of a run. A client's name begins with the name of its policy. */
export const POLICIES: Readonly<Record<string, Policy>> = {
  bucket: tokenBucket({ capacity: LIMIT, refill: LIMIT, every: WINDOW_MS }),
  sliding: slidingWindow({ limit: LIMIT, window: WINDOW_MS }),
  fixed: fixedWindow({ limit: LIMIT, window: WINDOW_MS }),
}

const KINDS = Object.keys(POLICIES)
const HOT_PER_POLICY = 10

/** The clients that send requests, in turn. */
export interface Clients {
  next(): string
  isHot(client: string): boolean
}

/**
 * Half of the requests are of 30 hot clients, the first ones of each policy by far the busiest; the others
 * come once.
 */
export function clients(run: string): Clients {
  let chosen = 0
  return {
    next() {
      chosen++
      const kind = KINDS[(chosen >> 1) % KINDS.length]
      if (chosen % 2 === 0) return `${kind}:${run}:cold-${chosen}`
      return `${kind}:${run}:hot-${Math.floor(HOT_PER_POLICY * Math.random() ** 4)}`
    },
    isHot: (client) => client.includes(':hot-'),
  }
}

/** The policy of a client. */
export function policyOf(client: string): Policy {
  const policy = POLICIES[client.slice(0, client.indexOf(':'))]
  if (policy === undefined) throw new TypeError(`There is no policy for ${client}.`)
  return policy
}

/**
 * What a client that was not known before may be let through by its policy between two times of the wall
 * clock, less than a window apart: the whole limit; the bucket's refill beside it; the limit of a second
 * fixed window where one begins meanwhile.
 */
export function promiseTo(client: string, fromMs: number, toMs: number): number {
  const { kind } = policyOf(client).spec
  if (kind === 'token-bucket') return LIMIT + Math.ceil((LIMIT * (toMs - fromMs)) / WINDOW_MS)
  if (kind === 'sliding-window') return LIMIT
  return LIMIT * (1 + Math.floor(toMs / WINDOW_MS) - Math.floor(fromMs / WINDOW_MS))
}
