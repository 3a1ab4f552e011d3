import type { PartDecision } from '../../limiter/decision.js'
import type { Inspection } from '../../limiter/inspection.js'
import { kindOf } from '../../policies/spec.js'
import { type DemandBudget, Demands, type TakenDemands } from './demands.js'
import type { LimitRow } from './report.js'
import { MINUTE_SLOTS, Traffic } from './traffic.js'

/** The most limits that have figures, since a policy function may return new limits forever. */
const MAX_LIMITS = 64
/** The most limits of a limiter whose clients' demands are counted. */
const MAX_DEMANDS = 8

type LimitNumbers = Pick<PartDecision, 'name' | 'limit' | 'windowMs'> & { readonly isLocal: boolean }

/** A limit whose clients' demands are taken. */
export interface LimitDemands extends TakenDemands {
  readonly limitName: string
  readonly limit: number
  readonly windowMs: number
}

/** What is counted of one limit. */
export interface LimitFigures extends LimitNumbers {
  readonly traffic: Traffic
  /** Absent if no time restores its units, and for limits of the fallback store. */
  readonly demands: Demands | undefined
}

/** Counts what the limits of a limiter decide. */
export class LimitTable {
  readonly #inspection: Pick<Inspection, 'limits'>
  readonly #budget: DemandBudget
  readonly #limits = new Map<string, LimitFigures>()
  /** The limit of each name that decided last: mostly the next one also. */
  readonly #last = new Map<string, LimitFigures>()

  constructor(inspection: Pick<Inspection, 'limits'>, budget: DemandBudget) {
    this.#inspection = inspection
    this.#budget = budget
  }

  /** Returns the figures of the limit of a decision's part; `undefined` if there are too many limits. */
  of(part: PartDecision, isLocal: boolean, nowMs: number): LimitFigures | undefined {
    const { name, limit, windowMs } = part
    const last = this.#last.get(name)
    if (last?.limit === limit && last.windowMs === windowMs && last.isLocal === isLocal) return last
    const figures = this.#figuresOf({ name, limit, windowMs, isLocal }, nowMs, part.quotaUnit === undefined)
    if (figures !== undefined) this.#last.set(name, figures)
    return figures
  }

  /** Returns the limits that have decided, and those that are known, but have not yet. */
  rows(nowMs: number): LimitRow[] {
    const kinds = new Map<string, string>()
    for (const { name, policy } of this.#inspection.limits.values()) {
      const kind = kindOf(policy.spec)
      const limit = { name, limit: policy.limit, windowMs: policy.windowMs, isLocal: false }
      kinds.set(keyOf(limit), kind)
      kinds.set(name, kind) // a share of it, by which the fallback store decides
      this.#figuresOf(limit, nowMs, !policy.holdsUnits)
    }
    const rows = Array.from(this.#limits, ([key, { traffic, demands, ...limit }]) => ({
      ...limit,
      kind: kinds.get(limit.isLocal ? limit.name : key) ?? '',
      windowMs: Number.isFinite(limit.windowMs) ? limit.windowMs : null,
      ...traffic.sum(nowMs),
    }))
    return rows.filter(({ isLocal, allowed, denied }) => !isLocal || allowed + denied > 0)
  }

  /** Takes what clients have asked for since the last call. */
  takeDemands(nowMs: number): readonly LimitDemands[] {
    return Array.from(this.#limits.values()).flatMap(({ name: limitName, limit, windowMs, demands }) => {
      return demands === undefined ? [] : [{ limitName, limit, windowMs, ...demands.take(nowMs) }]
    })
  }

  #figuresOf(limit: LimitNumbers, nowMs: number, timeRestores: boolean): LimitFigures | undefined {
    const key = keyOf(limit)
    const existing = this.#limits.get(key)
    if (existing !== undefined) return existing
    const windowMs = this.#windowOf(limit)
    if (windowMs !== limit.windowMs) return this.#figuresOf({ ...limit, windowMs }, nowMs, timeRestores)
    if (this.#limits.size >= MAX_LIMITS) return undefined
    const hasDemands =
      timeRestores && Number.isFinite(windowMs) && !limit.isLocal && this.#demandCount() < MAX_DEMANDS
    const figures = {
      ...limit,
      traffic: new Traffic(MINUTE_SLOTS, nowMs),
      demands: hasDemands ? new Demands(windowMs, this.#budget) : undefined,
    }
    this.#limits.set(key, figures)
    return figures
  }

  #demandCount(): number {
    let count = 0
    for (const { demands } of this.#limits.values()) if (demands !== undefined) count++
    return count
  }

  /** Returns the window of a limit, the same for all periods of a quota. */
  #windowOf({ name, windowMs }: LimitNumbers): number {
    const limits = [...this.#inspection.limits.values()]
    const quota = limits.find((limit) => limit.name === name && limit.policy.periodAt !== undefined)
    return quota?.policy.windowMs ?? windowMs
  }
}

/** Returns what tells a limit from others: a policy function may return several of one name. */
function keyOf({ name, limit, windowMs, isLocal }: LimitNumbers): string {
  return `${name} ${limit} ${windowMs} ${isLocal}`
}
