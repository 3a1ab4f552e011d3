import type { ClientDemand } from '../client-demand.js'
import type { WouldDeny } from '../would-deny.js'

/** How many clients a preview names. */
const MAX_NAMED = 20

/** A client that a preview names, with the smallest limit that would have denied it nothing. */
export interface NamedClient {
  readonly identity: string
  readonly peak: number
}

/** How many clients were denied at least once, and how many would have been. */
export interface PreviewCounts {
  readonly denied: number
  readonly wouldDeny: number
  /** Some of those that would have been denied although they were not, the largest first. */
  readonly newlyDenied: readonly NamedClient[]
  readonly newlyDeniedCount: number
  /** Some of those that were denied and would not have been, the largest first. */
  readonly noLongerDenied: readonly NamedClient[]
  readonly noLongerDeniedCount: number
  /** Set if perhaps fewer would have been denied: `wouldDeny` is an upper bound. */
  readonly isBound?: true
}

/** A client with what new rules would have done to it. */
export interface JudgedClient extends ClientDemand, WouldDeny {}

export const NO_COUNTS: PreviewCounts = {
  denied: 0,
  wouldDeny: 0,
  newlyDenied: [],
  newlyDeniedCount: 0,
  noLongerDenied: [],
  noLongerDeniedCount: 0,
}

export function countsOf(clients: readonly JudgedClient[]): PreviewCounts {
  const newly = clients.filter(({ wasDenied, denies }) => denies && !wasDenied)
  const noLonger = clients.filter(({ wasDenied, denies }) => wasDenied && !denies)
  return {
    denied: weightOf(clients.filter(({ wasDenied }) => wasDenied)),
    wouldDeny: weightOf(clients.filter(({ denies }) => denies)),
    newlyDenied: namedOf(newly),
    newlyDeniedCount: weightOf(newly),
    noLongerDenied: namedOf(noLonger),
    noLongerDeniedCount: weightOf(noLonger),
    ...(clients.some(({ isBound }) => isBound) && { isBound: true }),
  }
}

function namedOf(clients: readonly JudgedClient[]): readonly NamedClient[] {
  const largest = clients.toSorted((a, b) => b.peak - a.peak).slice(0, MAX_NAMED)
  return largest.map(({ identity, peak }) => ({ identity, peak }))
}

/** Returns how many clients some stand for. */
export function weightOf(clients: readonly ClientDemand[]): number {
  return Math.round(clients.reduce((sum, { weight }) => sum + weight, 0))
}
