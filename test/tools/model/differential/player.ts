import type { Policy, Store } from 'headgate'
import { keysOf, type Operation, type Result } from 'headgate/store'
import { keyCodeOf } from '../../../../src/policies/spec.js'
import { type Expected, ModelStore } from '../reference/model-store.js'
import { differenceOf } from './compare.js'
import { type Mark, OWNERS, type Plan, type PlannedReturn, type Step, type Trace } from './trace.js'

/** A store with its clock, for one trace at a time. */
export interface Lane {
  readonly store: Store
  /** The time that the store must report; absent if its clock is a real one. */
  readonly nowMs?: () => number
  /** Moves a settable clock, also back, or waits. */
  advance(ms: number): Promise<void> | void
}

/** How a store is held against the model. */
export interface Rules {
  readonly isAtomic: boolean
  readonly canStepBack: boolean
  /** The longest that a mark makes a trace wait. */
  readonly longestMs: number
  /** How far times may be apart, where the parts of a charge have different ones. */
  readonly toleranceMs?: number
  /** How far the time of an operation that tells none may be from that of the read after it. Default 0. */
  readonly untimedMs?: number
  /** How far ahead of the clock a store may decide, as with a state of a process whose clock is ahead. */
  readonly skewMs?: number
}

/** What came of a trace. */
export interface Outcome {
  readonly operations: number
  readonly difference?: { readonly step: number; readonly what: string }
}

interface Receipt {
  readonly key: string
  readonly policy: Policy
  readonly takenAtMs: number
  readonly resetAtMs: number
  readonly cost: number
}

let plays = 0
const RUN = `${process.pid.toString(36)}${Date.now().toString(36)}`

/** Plays a trace on a store and on the model, under new keys. Stops at the first difference. */
export async function play(trace: Trace, lane: Lane, rules: Rules): Promise<Outcome> {
  const player = new Player(trace, lane, rules, `model:${RUN}:${++plays}`)
  try {
    for (const [step, each] of trace.steps.entries()) {
      const what = await player.step(each)
      if (what !== undefined) return { operations: player.operations, difference: { step, what } }
    }
    return { operations: player.operations }
  } finally {
    await player.forgetAll()
  }
}

class Player {
  operations = 0
  readonly #model: ModelStore
  readonly #receipts: Receipt[] = []
  /** The last figures by which a trace may wait. */
  readonly #marks: Partial<Record<Mark, number>> = {}
  /** Keys whose state depends on the time of an operation that tells none. */
  readonly #untimed = new Set<string>()

  constructor(
    readonly trace: Trace,
    readonly lane: Lane,
    readonly rules: Rules,
    readonly prefix: string,
  ) {
    this.#model = new ModelStore(rules.isAtomic)
  }

  /** Returns the first difference; `undefined` if there is none. */
  async step(step: Step): Promise<string | undefined> {
    if (this.lane.nowMs !== undefined) await this.#forgetFresh()
    if ('batch' in step) return this.#apply(step.batch.flatMap((plan) => this.#operationsOf(plan)))
    const ms = 'waitMs' in step ? step.waitMs : (this.#marks[step.waitFor] ?? Number.NaN) + step.plusMs
    const leastMs = this.rules.canStepBack ? -this.rules.longestMs : 0
    if (ms >= leastMs && ms <= this.rules.longestMs) await this.lane.advance(ms)
    return undefined
  }

  async forgetAll(): Promise<void> {
    await this.#forget(this.#keyed())
  }

  /**
   * Forgets states that are fresh by now under some numbers: a store may drop them, read them under others, or
   * read them after its clock has stepped back.
   */
  async #forgetFresh(): Promise<void> {
    const nowMs = this.lane.nowMs?.() ?? 0
    const isFresh = (keyed: { key: string; policy: Policy }) =>
      this.#model.figures(keyed, nowMs).resetAfterMs === 0
    await this.#forget(this.#keyed().filter(isFresh))
  }

  async #forget(keyed: readonly { key: string; policy: Policy }[]): Promise<void> {
    const operations = keyed.map((each) => ({ type: 'forget', ...each }) as const)
    if (operations.length > 0) await this.lane.store.apply(operations)
    for (const operation of operations) this.#model.apply(operation, 0)
  }

  #keyed(): { key: string; policy: Policy }[] {
    return Array.from({ length: this.trace.policies.length * OWNERS }, (_, key) => this.#key(key))
  }

  #key(key: number): { key: string; policy: Policy } {
    const place = Math.floor(key / OWNERS)
    const policy = this.trace.policies[place] as Policy
    // By a real clock, policies share a key only if units come back at the same time under all of them.
    const pace = this.lane.nowMs === undefined ? paceOf(policy) : ''
    return { key: `${this.prefix}:${key % OWNERS}:${keyCodeOf(policy.spec)}${pace}`, policy }
  }

  /** Returns the operation of a plan, if its policy knows it, and a read where its result tells no time. */
  #operationsOf(plan: Plan): Operation[] {
    const operation = this.#operationOf(plan)
    if (operation === undefined) return []
    if (!['refund', 'renew', 'forget'].includes(operation.type)) return [operation]
    const { key, policy } = operation as Extract<Operation, { key: string }>
    return [operation, { type: 'take', key, policy, units: 0 }]
  }

  #operationOf(plan: Plan): Operation | undefined {
    if (plan.type === 'charge') {
      const parts = plan.parts.map(({ key, cost }) => ({ ...this.#key(key), cost }))
      const policyOf = (key: string) => parts.find((part) => part.key === key)?.policy
      return { type: 'charge', parts: parts.filter(({ key, policy }) => policyOf(key) === policy) }
    }
    if ('receipt' in plan) return this.#giveBack(plan)
    const keyed = this.#key(plan.key)
    const { isBan, holdsUnits, longestBanMs = 0 } = keyed.policy
    if (plan.type === 'forget') return { type: 'forget', ...keyed }
    if (plan.type === 'block')
      return isBan ? { type: 'block', ...keyed, forMs: longestBanMs * plan.share } : undefined
    return { type: plan.type, ...keyed, units: holdsUnits ? 0 : plan.units }
  }

  #giveBack({ type, receipt: at, cost }: PlannedReturn): Operation | undefined {
    const all = type === 'refund' ? this.#receipts : this.#receipts.filter((each) => each.policy.holdsUnits)
    const receipt = all[at % Math.max(1, all.length)]
    return receipt && { type, ...receipt, cost: Math.min(cost, receipt.cost) }
  }

  async #apply(operations: readonly Operation[]): Promise<string | undefined> {
    if (operations.length === 0) return undefined
    const outcomes = await this.lane.store.apply(operations)
    const failure = outcomes.find((outcome) => outcome instanceof Error)
    if (failure !== undefined) return `an operation failed: ${failure}`
    const results = outcomes as readonly Result[]
    for (const [i, operation] of operations.entries()) {
      const result = results[i] as Result
      const atMs = timeOf(result) ?? timeOf(results[i + 1] as Result) ?? Number.NaN
      const difference = this.#check(operation, result, atMs)
      if (difference !== undefined) return `${show(operation)}, at ${atMs}: ${difference}`
      this.#remember(operation, result, atMs)
      this.operations++
    }
    return undefined
  }

  #check(operation: Operation, result: Result, atMs: number): string | undefined {
    const { toleranceMs = 0, untimedMs = 0, skewMs = 0 } = this.rules
    const keys = keysOf(operation).map(({ key }) => key)
    if (operation.type === 'forget') this.#untimed.delete(operation.key)
    if (operation.type === 'refund' || operation.type === 'renew') this.#untimed.add(operation.key)
    const isUntimed = keys.some((key) => this.#untimed.has(key))
    const clockMs = this.lane.nowMs?.() ?? atMs
    if (!(atMs >= clockMs && atMs <= clockMs + skewMs)) return `atMs is ${atMs}, not ${clockMs}`
    const parts = result.type === 'charge' ? result.parts : []
    const expected: Expected = this.#model.apply(operation, atMs, (i) => parts[i]?.atMs ?? atMs)
    return differenceOf(expected, result, Math.max(toleranceMs, isUntimed ? untimedMs : 0), isUntimed)
  }

  #remember(operation: Operation, result: Result, atMs: number): void {
    const figures = result.type === 'charge' ? result.parts : [result]
    for (const each of figures)
      for (const mark of ['retryAfterMs', 'moreAfterMs', 'resetAfterMs'] as const) {
        const ms = (each as Partial<Record<Mark, number>>)[mark] ?? 0
        if (ms > 0) this.#marks[mark] = ms
      }
    if (operation.type === 'charge' && result.type === 'charge' && result.allowed)
      for (const [i, part] of operation.parts.entries()) {
        const {
          resetAfterMs = 0,
          unitsAfterMs = resetAfterMs,
          atMs: takenAtMs = atMs,
        } = result.parts[i] ?? {}
        if (part.cost > 0) this.#receipts.push({ ...part, takenAtMs, resetAtMs: takenAtMs + unitsAfterMs })
      }
    if (operation.type === 'take' && result.type === 'take' && result.taken > 0) {
      const { key, policy } = operation
      const resetAtMs = atMs + (result.unitsAfterMs ?? result.resetAfterMs)
      this.#receipts.push({ key, policy, cost: result.taken, takenAtMs: atMs, resetAtMs })
    }
    if (operation.type === 'renew' && result.type === 'renew') {
      const { key, policy, cost, takenAtMs } = operation
      this.#receipts.push({ key, policy, cost, takenAtMs, resetAtMs: result.resetAtMs })
    }
  }
}

/** Returns what a policy's numbers say of time, as text. Braces would put all keys into one slot of a Cluster. */
function paceOf({ spec }: Policy): string {
  const text = JSON.stringify(spec, (name, value) =>
    name === 'limit' || name === 'capacity' ? undefined : value,
  )
  return text.replaceAll(/[{}]/g, '')
}

function timeOf(result: Result | undefined): number | undefined {
  return result !== undefined && 'atMs' in result ? result.atMs : undefined
}

/** Returns an operation as text, with specs in place of policies. */
function show(operation: Operation): string {
  return JSON.stringify(operation, (name, value) => (name === 'policy' ? value.spec : value))
}
