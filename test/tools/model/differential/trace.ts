import type { Policy } from 'headgate'
import { keyCodeOf } from '../../../../src/policies/spec.js'
import { type Random, randomFrom } from '../../simulate/random.js'

/** An operation of a trace, by numbers that stay valid when others are removed. */
export type Plan =
  | { readonly type: 'charge'; readonly parts: readonly PlannedPart[] }
  | { readonly type: 'take' | 'reward'; readonly key: number; readonly units: number }
  | { readonly type: 'block'; readonly key: number; readonly share: number }
  | { readonly type: 'forget'; readonly key: number }
  | PlannedReturn

/** Gives units of an earlier charge back, or holds them for longer. */
export interface PlannedReturn {
  readonly type: 'refund' | 'renew'
  readonly receipt: number
  readonly cost: number
}

export interface PlannedPart {
  readonly key: number
  readonly cost: number
}

/** Which of the last durations to wait for, so that the clock stands at the end of it or beside it. */
export type Mark = 'retryAfterMs' | 'moreAfterMs' | 'resetAfterMs'

export type Step =
  | { readonly batch: readonly Plan[] }
  | { readonly waitMs: number }
  | { readonly waitFor: Mark; readonly plusMs: number }

/** Keys by their policy and owner, and what happens to them. */
export interface Trace {
  readonly seed: number
  readonly policies: readonly Policy[]
  readonly steps: readonly Step[]
}

/** What a store allows in traces. */
export interface TraceOptions {
  readonly policies: readonly Policy[]
  /** The longest wait, in milliseconds. */
  readonly longestMs: number
  readonly canStepBack: boolean
  /** Charges of several keys go alone, since they have no order with the rest of their batch. */
  readonly isAtomic: boolean
  readonly canCharge: 'several keys' | 'one key'
}

/** Each policy has two keys. Policies of one kind may share them. */
export const OWNERS = 2
const POLICIES_PER_TRACE = 3
const MARKS: readonly Mark[] = ['retryAfterMs', 'moreAfterMs', 'resetAfterMs']

/** Creates a random trace, the same for the same seed and options. */
export function traceFrom(seed: number, options: TraceOptions): Trace {
  const random = randomFrom(seed)
  const policies: Policy[] = []
  while (policies.length < POLICIES_PER_TRACE) {
    const [first] = policies
    const code = first && keyCodeOf(first.spec)
    const ofKind = options.policies.filter(({ spec }) => keyCodeOf(spec) === code)
    policies.push(pick(random, first !== undefined && random() < 0.6 ? ofKind : options.policies))
  }
  const maker = new TraceMaker(random, policies, options)
  const steps = Array.from({ length: 5 + whole(random, 30) }, () => maker.step())
  return { seed, policies, steps }
}

class TraceMaker {
  constructor(
    readonly random: Random,
    readonly policies: readonly Policy[],
    readonly options: TraceOptions,
  ) {}

  step(): Step {
    const drawn = this.random()
    if (drawn < 0.62) return this.#batch()
    if (drawn < 0.8) return { waitFor: pick(this.random, MARKS), plusMs: whole(this.random, 3) - 1 }
    return { waitMs: this.#waitMs() }
  }

  #waitMs(): number {
    const { longestMs, canStepBack } = this.options
    const scale = pick(this.random, [longestMs / 1000, longestMs / 30, longestMs / 3, longestMs])
    const ms = Math.floor(this.random() * scale * 4) / 4
    return canStepBack && this.random() < 0.25 ? -ms : ms
  }

  #batch(): Step {
    const plans = Array.from({ length: 1 + whole(this.random, 4) }, () => this.#plan())
    const alone = plans.find((plan) => plan.type === 'charge' && plan.parts.length > 1)
    return { batch: this.options.isAtomic || alone === undefined ? plans : [alone] }
  }

  #plan(): Plan {
    const { random } = this
    const drawn = random()
    const key = this.#key()
    if (drawn < 0.52) return this.#charge()
    if (drawn < 0.62) return { type: 'take', key, units: whole(random, 7) }
    if (drawn < 0.78) return { type: 'refund', receipt: whole(random, 1000), cost: whole(random, 5) }
    if (drawn < 0.86) return { type: 'reward', key, units: whole(random, 6) }
    if (drawn < 0.92) return { type: 'renew', receipt: whole(random, 1000), cost: whole(random, 5) }
    if (drawn < 0.96) return { type: 'block', key, share: pick(random, [0, 0.25, 0.5, 1]) }
    return { type: 'forget', key }
  }

  #charge(): Plan {
    const { random } = this
    const count = random() < 0.5 ? 1 : 2 + whole(random, 3)
    const parts = Array.from({ length: count }, () => {
      const key = this.#key()
      const { limit } = this.policies[Math.floor(key / OWNERS)] as Policy
      return { key, cost: random() < 0.85 ? whole(random, 4) : whole(random, limit + 3) }
    })
    if (this.options.canCharge === 'several keys') return { type: 'charge', parts }
    const [{ key }] = parts as [PlannedPart]
    return { type: 'charge', parts: parts.map(({ cost }) => ({ key, cost })) }
  }

  #key(): number {
    return whole(this.random, POLICIES_PER_TRACE * OWNERS)
  }
}

/** Returns a whole number from 0 up to `below`. */
function whole(random: Random, below: number): number {
  return Math.floor(random() * below)
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[whole(random, from.length)] as T
}
