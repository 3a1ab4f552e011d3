import type { PartDecision } from '../../limiter/decision.js'
import type { Inspection } from '../../limiter/inspection.js'
import type { Policy } from '../../policies/policy.js'
import { type BaseSpec, baseOf, keyCodeOf, kindOf } from '../../policies/spec.js'
import { type DemandBudget, Demands, type TakenDemands } from './demands.js'
import { meterOf } from './meters/meter.js'
import type { LimitRow } from './report.js'
import { MINUTE_SLOTS, Traffic } from './traffic.js'

/** The most limits that have figures, since a policy function may return new limits forever. */
const MAX_LIMITS = 64
/** The most limits of a limiter whose clients' demands are counted. */
const MAX_DEMANDS = 8

/** A limit as decisions have it. A quota has its nominal window, whatever the period. */
interface LimitNumbers extends Pick<PartDecision, 'name' | 'limit' | 'windowMs'> {
  readonly isLocal: boolean
  /** Absent if a decision does not say by which policy it was made. */
  readonly policy: Policy | undefined
}

/** A limit whose clients' demands are taken. */
export interface LimitDemands extends TakenDemands {
  readonly limitName: string
  /** Set if it is a candidate, which denies no client. */
  readonly isCandidate?: true
  readonly policy: BaseSpec
  /** When the settings brought the limit into force, if they did: the same time in all processes. */
  readonly sinceMs?: number
}

/** What is counted of one limit. */
export interface LimitFigures extends LimitNumbers {
  /** The kind of its policy; `''` if it is not known. */
  readonly kind: string
  readonly traffic: Traffic
  /** Absent if no time restores its units, and for limits of the fallback store. */
  demands: Demands | undefined
}

/** Counts what the limits of a limiter decide. */
export class LimitTable {
  readonly #inspection: Pick<Inspection, 'limits'>
  readonly #budget: DemandBudget
  readonly #limits = new Map<string, LimitFigures>()
  /** The limit of each name that decided last: mostly the next one also. */
  readonly #last = new Map<string, LimitFigures>()
  /** When the settings changed the limit of a name last. */
  #sinceMs: ReadonlyMap<string, number> = new Map()
  /** The keys of the limits in force, when that was last looked at. */
  #inForce: ReadonlySet<string> = new Set()
  /** What was counted of limits that are no longer in force, and is not yet taken. */
  readonly #left: (Omit<LimitDemands, keyof TakenDemands> & { readonly demands: Demands })[] = []

  constructor(inspection: Pick<Inspection, 'limits'>, budget: DemandBudget) {
    this.#inspection = inspection
    this.#budget = budget
  }

  /**
   * Returns the figures of the limit of a decision's part, which `policy` decided; `undefined` if there are too
   * many limits.
   */
  of(
    part: PartDecision,
    policy: Policy | undefined,
    isLocal: boolean,
    nowMs: number,
  ): LimitFigures | undefined {
    const { name, quotaUnit } = part
    const { windowMs } = policy ?? part
    // The limit of an overload guard changes all the time. What it may be at most stays.
    const { limit } = quotaUnit === undefined ? part : (policy ?? part)
    const last = this.#last.get(name)
    if (last?.policy === policy && last?.limit === limit && last.isLocal === isLocal) return last
    const figures = this.#figuresOf({ name, limit, windowMs, isLocal, policy }, nowMs)
    if (figures !== undefined) this.#last.set(name, figures)
    return figures
  }

  /** Returns what is counted of the clients of the limit that a policy is of; `undefined` if nothing is. */
  demandsOf(limitName: string, policy: Policy): Demands | undefined {
    const last = this.#last.get(limitName)
    if (last?.policy === policy && !last.isLocal) return last.demands
    for (const { name, isLocal, policy: counted, demands } of this.#limits.values())
      if (name === limitName && !isLocal && counted === policy) return demands
    return undefined
  }

  /** Returns the limits that have decided, and those that are known, but have not yet. */
  rows(nowMs: number): LimitRow[] {
    for (const { name, policy } of this.#inspection.limits.values()) {
      this.#figuresOf(inForceNumbers(name, policy), nowMs)
    }
    const rows: LimitRow[] = []
    for (const { name, kind, limit, windowMs, isLocal, traffic } of this.#limits.values()) {
      const { allowed, denied, peak } = traffic.sum(nowMs)
      if (isLocal && allowed + denied === 0) continue
      const shownMs = Number.isFinite(windowMs) ? windowMs : null
      rows.push({ name, kind, limit, windowMs: shownMs, isLocal, allowed, denied, peak })
    }
    return rows
  }

  /**
   * Takes what clients have asked for since the last call. A limit that is in force is taken even if no client
   * asked for anything; one that is not makes room for others then.
   */
  takeDemands(nowMs: number): readonly LimitDemands[] {
    const inForce = this.#keysInForce()
    this.#inForce = inForce
    const current = Array.from(this.#limits).flatMap(([key, { name: limitName, policy, demands }]) => {
      if (demands === undefined || policy === undefined) return []
      const isInForce = inForce.has(key)
      if (!isInForce && demands.isIdle) {
        this.#drop(key)
        return []
      }
      const taken = demands.take(nowMs)
      const sinceMs = isInForce ? this.#sinceMs.get(limitName) : undefined
      const counted = { limitName, policy: countedSpec(policy), ...(sinceMs !== undefined && { sinceMs }) }
      return [{ ...counted, ...taken }]
    })
    return [...this.#takeLeft(nowMs), ...current]
  }

  /**
   * Tells when the settings changed each limit last, by its name. What was counted of a limit that is no longer
   * in force is set aside, so that it is not mixed with what is counted if the limit comes back.
   */
  setSince(sinceMs: ReadonlyMap<string, number>): void {
    const inForce = this.#keysInForce()
    for (const [key, figures] of this.#limits) {
      const { name: limitName, policy, demands } = figures
      if (demands === undefined || policy === undefined || inForce.has(key) || !this.#inForce.has(key))
        continue
      const lastMs = this.#sinceMs.get(limitName) ?? 0
      this.#left.push({ limitName, policy: countedSpec(policy), sinceMs: lastMs, demands })
      figures.demands = this.#newDemands(figures)
    }
    this.#inForce = inForce
    this.#sinceMs = sinceMs
  }

  #takeLeft(nowMs: number): readonly LimitDemands[] {
    return this.#left.splice(0).flatMap(({ demands, ...limit }) => {
      this.#budget.leave()
      return demands.isIdle ? [] : [{ ...limit, ...demands.take(nowMs) }]
    })
  }

  #keysInForce(): ReadonlySet<string> {
    const limits = [...this.#inspection.limits.values()]
    return new Set(limits.map(({ name, policy }) => keyOf(inForceNumbers(name, policy))))
  }

  #drop(key: string): void {
    const figures = this.#limits.get(key)
    this.#limits.delete(key)
    this.#budget.leave()
    if (figures !== undefined && this.#last.get(figures.name) === figures) this.#last.delete(figures.name)
  }

  #figuresOf(limit: LimitNumbers, nowMs: number): LimitFigures | undefined {
    const key = keyOf(limit)
    const existing = this.#limits.get(key)
    if (existing !== undefined) return existing
    if (this.#limits.size >= MAX_LIMITS) return undefined
    const figures = {
      ...limit,
      kind: this.#kindOf(limit),
      traffic: new Traffic(MINUTE_SLOTS, nowMs),
      demands: limit.isLocal || this.#demandCount() >= MAX_DEMANDS ? undefined : this.#newDemands(limit),
    }
    this.#limits.set(key, figures)
    return figures
  }

  #kindOf({ name, policy, isLocal }: LimitNumbers): string {
    const limits = [...this.#inspection.limits.values()]
    // The fallback store decides by a share of the limit.
    const shared = isLocal ? limits.find((limit) => limit.name === name)?.policy : undefined
    const decided = policy ?? shared
    return decided === undefined ? '' : kindOf(decided.spec)
  }

  #newDemands({ policy }: LimitNumbers): Demands | undefined {
    const meter = policy && meterOf(policy)
    return meter && new Demands(meter, this.#budget)
  }

  #demandCount(): number {
    let count = 0
    for (const { demands } of this.#limits.values()) if (demands !== undefined) count++
    return count
  }
}

function inForceNumbers(name: string, policy: Policy): LimitNumbers {
  const { limit, windowMs } = policy
  return { name, limit, windowMs, isLocal: false, policy }
}

/** Returns the spec of the policy whose demands are counted: of a ban, that of its policy. */
function countedSpec({ spec }: Policy): BaseSpec {
  return baseOf(spec) as BaseSpec // no meter for concurrency
}

/** Returns what tells a limit from others: a policy function may return several of one name. */
function keyOf({ name, limit, windowMs, isLocal, policy }: LimitNumbers): string {
  return `${name} ${limit} ${windowMs} ${isLocal} ${policy ? keyCodeOf(policy.spec) : ''}`
}
