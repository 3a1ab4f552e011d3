import { type Decision, receiptOf } from '../../limiter/decision.js'
import { type Policy, signatureOf } from '../../policies/policy.js'
import { type BaseSpec, baseOf } from '../../policies/spec.js'
import { askedOf } from './asked.js'
import { type DemandBudget, Demands } from './demands.js'
import type { LimitDemands } from './limit-figures.js'
import { meterOf } from './meters/meter.js'

/** The most limits of a candidate that are counted. */
const MAX_LIMITS = 4

interface Counted {
  readonly limitName: string
  readonly policy: Policy
  readonly demands: Demands
}

/** Counts whom the limits of a candidate would have denied, client by client. */
export class CandidateDemands {
  readonly #budget: DemandBudget
  readonly #limits = new Map<string, Counted>()
  /** When the settings changed the candidate last. */
  #sinceMs: number | undefined

  constructor(budget: DemandBudget) {
    this.#budget = budget
  }

  /** Counts what a candidate decided. */
  count(candidate: Decision, nowMs: number): void {
    const { parts, result } = receiptOf(candidate) ?? { parts: [] }
    for (const [i, part] of candidate.parts.entries()) {
      const { policy, identity } = parts[i] ?? {}
      if (policy === undefined || identity === undefined || part.cost === 0) continue
      if (!candidate.allowed && part.allowed) continue // another limit denied it
      const asked = askedOf(part, candidate.source, result?.parts[i])
      this.#demandsOf(part.name, policy)?.count(result?.atMs ?? nowMs, identity, asked)
    }
  }

  /** Tells when the settings changed the candidate last. What another one decided counts no more. */
  setSince(sinceMs: number | undefined): void {
    if (sinceMs === this.#sinceMs) return
    this.#sinceMs = sinceMs
    for (const _ of this.#limits) this.#budget.leave()
    this.#limits.clear()
  }

  /** Takes what has been counted since the last call. */
  take(nowMs: number): readonly LimitDemands[] {
    return Array.from(this.#limits.values(), ({ limitName, policy, demands }) => {
      const taken = demands.take(nowMs)
      const since = this.#sinceMs === undefined ? {} : { sinceMs: this.#sinceMs }
      const spec = baseOf(policy.spec) as BaseSpec // no meter for concurrency
      return { limitName, isCandidate: true, policy: spec, ...since, ...taken }
    })
  }

  #demandsOf(limitName: string, policy: Policy): Demands | undefined {
    const key = `${limitName} ${signatureOf(policy)}`
    const known = this.#limits.get(key)
    if (known !== undefined) return known.demands
    const meter = this.#limits.size < MAX_LIMITS ? meterOf(policy) : undefined
    if (meter === undefined) return undefined
    const demands = new Demands(meter, this.#budget)
    this.#limits.set(key, { limitName, policy, demands })
    return demands
  }
}
