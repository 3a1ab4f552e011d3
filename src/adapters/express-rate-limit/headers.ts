import { hash } from 'node:crypto'
import type { HeaderList } from '../../http/server.js'
import type { DraftHeadersVersion, RateLimitInfo } from './types.js'

export interface Quota {
  readonly info: RateLimitInfo
  readonly windowMs: number
  /** The name of the policy, in draft 8. */
  readonly name?: string
}

/** Returns `X-RateLimit-Limit`, `-Remaining`, and `-Reset` in seconds since the Unix epoch. */
export function legacyHeaders({ limit, remaining, resetTime }: RateLimitInfo): HeaderList {
  const headers = ['X-RateLimit-Limit', limit.toString(), 'X-RateLimit-Remaining', remaining.toString()]
  if (resetTime instanceof Date) headers.push('X-RateLimit-Reset', secondsOf(resetTime.getTime()).toString())
  return headers
}

/** The headers of each draft of draft-ietf-httpapi-ratelimit-headers: set, and in draft 8 appended. */
export const draftHeaders: Readonly<Record<DraftHeadersVersion, (quota: Quota) => HeaderList>> = {
  'draft-6': (quota) => [
    'RateLimit-Policy',
    policyOf(quota),
    'RateLimit-Limit',
    quota.info.limit.toString(),
    'RateLimit-Remaining',
    quota.info.remaining.toString(),
    'RateLimit-Reset',
    resetSeconds(quota).toString(),
  ],
  'draft-7': (quota) => {
    const { limit, remaining } = quota.info
    const reset = resetSeconds(quota)
    return [
      'RateLimit-Policy',
      policyOf(quota),
      'RateLimit',
      `limit=${limit}, remaining=${remaining}, reset=${reset}`,
    ]
  },
  'draft-8': (quota) => {
    const { limit, remaining, key } = quota.info
    const name = `"${quota.name}"`
    const window = secondsOf(quota.windowMs)
    return [
      'RateLimit',
      `${name}; r=${remaining}; t=${resetSeconds(quota)}`,
      'RateLimit-Policy',
      `${name}; q=${limit}; w=${window}; pk=:${partitionKey(key)}:`,
    ]
  },
}

/** Returns the seconds until the window ends, rounded up; those of the whole window where the store gives no time. */
export function resetSeconds({ info: { resetTime }, windowMs }: Quota): number {
  return resetTime ? Math.max(0, secondsOf(resetTime.getTime() - Date.now())) : secondsOf(windowMs)
}

function policyOf({ info, windowMs }: Quota): string {
  return `${info.limit};w=${secondsOf(windowMs)}`
}

/** Returns what draft 8 calls a partition key: a hash of the client's key, as a byte sequence in base64. */
function partitionKey(key: string): string {
  return Buffer.from(hash('sha256', key, 'hex').slice(0, 12)).toString('base64')
}

function secondsOf(ms: number): number {
  return Math.ceil(ms / 1000)
}

export const DRAFTS = Object.keys(draftHeaders) as DraftHeadersVersion[]
