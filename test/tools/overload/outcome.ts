import type { Sender } from './scenario.js'

/** Requests of a group, and those that were answered in time. */
export interface GroupCounts {
  sent: number
  good: number
}

/** What became of the requests of a run. They add up: `sent = good + denied + lost`. */
export interface LoadOutcome {
  readonly sent: number
  /** Answered while the client waited. */
  readonly good: number
  readonly denied: number
  /** Without a response in time, or with an error. */
  readonly lost: number
  readonly sentBySecond: readonly number[]
  readonly goodBySecond: readonly number[]
  readonly groups: Readonly<Record<string, GroupCounts>>
  /** The share of a tenant's requests that were not answered in time, of the worst tenant of others. */
  readonly worstTenant?: number
  /** The 99th percentile of what critical requests took; absent if more than a hundredth got no answer. */
  readonly criticalP99Ms?: number
  /** The 99th percentile of how late the generator sent. If it is large, the generator was what was busy. */
  readonly lagMs: number
}

/** Counts requests as they end. */
export function outcomeCounter(seconds: number) {
  const counts = { sent: 0, good: 0, denied: 0, lost: 0 }
  const sentBySecond = Array.from({ length: Math.ceil(seconds) }, () => 0) // the last may be a part
  const goodBySecond = sentBySecond.slice()
  const groups: Record<string, GroupCounts> = {}
  const tenants: Record<string, GroupCounts> = {}
  const criticalMs: number[] = []
  const lagsMs: number[] = []

  function countsOf({ group, tenant }: Sender): GroupCounts[] {
    const ofGroup = group === undefined ? [] : [countsIn(groups, group)]
    return group === 'others' && tenant !== undefined ? [...ofGroup, countsIn(tenants, tenant)] : ofGroup
  }

  return {
    sent(sender: Sender, atMs: number, lagMs: number): void {
      counts.sent++
      add(sentBySecond, atMs)
      lagsMs.push(lagMs)
      for (const each of countsOf(sender)) each.sent++
    },
    ended(sender: Sender, atMs: number, status: number | undefined, tookMs: number): void {
      const isGood = status === 200
      counts[isGood ? 'good' : status === 503 ? 'denied' : 'lost']++
      if (sender.priority === 'critical') criticalMs.push(isGood ? tookMs : Number.POSITIVE_INFINITY)
      if (!isGood) return
      add(goodBySecond, atMs)
      for (const each of countsOf(sender)) each.good++
    },
    outcome(): LoadOutcome {
      const p99 = p99Of(criticalMs)
      const critical = Number.isFinite(p99) ? { criticalP99Ms: p99 } : {}
      const losses = Object.values(tenants).map(({ sent, good }) => 1 - good / sent)
      const worst = losses.length === 0 ? {} : { worstTenant: Math.max(...losses) }
      return { ...counts, sentBySecond, goodBySecond, groups, ...worst, ...critical, lagMs: p99Of(lagsMs) }
    },
  }
}

function countsIn(all: Record<string, GroupCounts>, name: string): GroupCounts {
  all[name] ??= { sent: 0, good: 0 }
  return all[name]
}

function add(bySecond: number[], atMs: number): void {
  const second = Math.floor(atMs / 1000)
  bySecond[second] = (bySecond[second] ?? 0) + 1
}

/** Returns the 99th percentile. Of no values it is not a number. */
export function p99Of(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
}
