import { type Decision, receiptOf } from '../../limiter/decision.js'
import type { UnitsWatch } from '../../limiter/receipt.js'
import { type Policy, signatureOf } from '../../policies/policy.js'
import { type BaseSpec, baseOf } from '../../policies/spec.js'
import { askedOf, changeUnits, watchUnits } from './asked.js'
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
  readonly #now: () => number
  readonly #limits = new Map<string, Counted>()
  /** When the settings changed the candidate last. */
  #sinceMs: number | undefined

  constructor(budget: DemandBudget, now: () => number) {
    this.#budget = budget
    this.#now = now
  }

  /** Counts what a candidate decided. */
  count(candidate: Decision, nowMs: number): void {
    const receipt = receiptOf(candidate)
    const { parts, result } = receipt ?? { parts: [] }
    if (candidate.allowed && receipt !== undefined) watchUnits(receipt, this.#changeUnits)
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

  readonly #changeUnits: UnitsWatch = ({ name, policy, identity }, change) => {
    const demands = this.#limits.get(keyOf(name, policy))?.demands
    if (demands !== undefined) changeUnits(demands, identity, change, this.#now())
  }

  #demandsOf(limitName: string, policy: Policy): Demands | undefined {
    const key = keyOf(limitName, policy)
    const known = this.#limits.get(key)
    if (known !== undefined) return known.demands
    const meter = this.#limits.size < MAX_LIMITS ? meterOf(policy) : undefined
    if (meter === undefined) return undefined
    const demands = new Demands(meter, this.#budget)
    this.#limits.set(key, { limitName, policy, demands })
    return demands
  }
}

function keyOf(limitName: string, policy: Policy): string {
  return `${limitName} ${signatureOf(policy)}`
}
