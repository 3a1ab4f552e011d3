import { hash } from 'node:crypto'
import type { HeaderList } from '../../http/header-list.js'
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
  'draft-6': (quota) => {
    const { limit, remaining } = quota.info
    const standing = ['RateLimit-Limit', limit.toString(), 'RateLimit-Remaining', remaining.toString()]
    return ['RateLimit-Policy', policyOf(quota), ...standing, 'RateLimit-Reset', `${resetSeconds(quota)}`]
  },
  'draft-7': (quota) => {
    const { limit, remaining } = quota.info
    const standing = `limit=${limit}, remaining=${remaining}, reset=${resetSeconds(quota)}`
    return ['RateLimit-Policy', policyOf(quota), 'RateLimit', standing]
  },
  'draft-8': (quota) => {
    const { limit, remaining, key } = quota.info
    const standing = `"${quota.name}"; r=${remaining}; t=${resetSeconds(quota)}`
    const policy = `"${quota.name}"; q=${limit}; w=${secondsOf(quota.windowMs)}; pk=:${partitionKey(key)}:`
    return ['RateLimit', standing, 'RateLimit-Policy', policy]
  },
}

/**
 * Returns the seconds until the window ends, rounded up; those of the whole window if the store gives no
 * time.
 */
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
