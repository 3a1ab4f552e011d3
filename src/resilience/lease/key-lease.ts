import type { Prepaid } from '../../policies/prepaid.js'
import type { Charge, KeyedPolicy, Part, Refund, Store, Verdict } from '../../stores/store.js'
import { validateVerdict } from '../validate-verdict.js'
import { Block } from './block.js'
import type { Demand } from './demand.js'
import { RepeatedDenial } from './repeated-denial.js'
import { rungs } from './rungs.js'

/** A store, and how units are leased from it. */
export interface Lessor {
  readonly store: Store
  readonly holdMs: number
  readonly processes: number
  readonly now: () => number
  /** Gives units back that were not used. */
  readonly giveBack: (refunds: readonly Refund[]) => void
}

/** A charge that waits for the answer to what was asked. */
interface Waiting {
  readonly charge: Charge
  readonly cost: number
  readonly resolve: (verdicts: readonly [Verdict]) => void
  readonly reject: (reason: unknown) => void
}

/** One key's units in this process. */
export class KeyLease {
  readonly #lessor: Lessor
  readonly #held: KeyedPolicy
  readonly #prepaid: Prepaid
  readonly #demand: Demand
  /** The most units that are held at once. */
  readonly #largest: number
  #block: Block | undefined
  #denial: RepeatedDenial | undefined
  #waiting: Waiting[] = []
  /** When the store was last asked, and whether its answer is still to come. */
  #sentAtMs = 0
  #asking: Promise<void> | undefined
  #isForgotten = false
  /** When units were given back last. */
  #freedAtMs = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(lessor: Lessor, { key, policy }: KeyedPolicy, prepaid: Prepaid, demand: Demand) {
    this.#lessor = lessor
    this.#held = { key, policy }
    this.#prepaid = prepaid
    this.#demand = demand
    this.#largest = largestBlock(policy.limit, lessor.processes)
  }

  /** Answers with what is here, if it is enough. */
  handOut({ cost }: Part): Verdict | undefined {
    if (this.#asking !== undefined) return undefined
    const nowMs = this.#lessor.now()
    const verdict = this.#decideHere(cost, nowMs)
    if (verdict !== undefined) this.#demand.add(cost, nowMs)
    return verdict
  }

  /** Answers at once while units are here. Else the store is asked for the charge, and for as many units as its key will soon use. */
  charge(charge: Charge, part: Part): readonly [Verdict] | Promise<readonly [Verdict]> | undefined {
    const verdict = this.handOut(part)
    if (verdict !== undefined) return [verdict]
    const { cost } = part
    const nowMs = this.#lessor.now()
    this.#demand.add(cost, nowMs)
    const isAsking = this.#asking !== undefined
    const isStuck = isAsking && nowMs - this.#sentAtMs > this.#lessor.holdMs
    if (isStuck || cost > this.#largest) return undefined
    return new Promise((resolve, reject) => {
      this.#waiting.push({ charge, cost, resolve, reject })
      if (!isAsking) this.#ask(nowMs)
    })
  }

  /** Gives up what has been held for long enough. Tells whether it is of no use any more. */
  tidy(nowMs: number): boolean {
    if (this.#block?.usableAt(nowMs - this.#sentAtMs) === 0) this.#endBlock(nowMs)
    return this.#block === undefined && this.#asking === undefined && !isHot(this.#demand.at(nowMs))
  }

  /** Gives back what it has and what it is getting. */
  async close(): Promise<void> {
    this.#isClosed = true
    while (this.#asking !== undefined) await this.#asking
    this.#endBlock(this.#lessor.now())
  }

  #endBlock(nowMs: number): void {
    if (this.#block !== undefined) this.#end(this.#block, nowMs)
    this.#block = undefined
  }

  #end(block: Block, nowMs: number): void {
    const refund = block.end(nowMs - this.#sentAtMs)
    if (refund !== undefined) this.#lessor.giveBack([refund])
  }

  /** Drops what it has, and what it is getting: the store has forgotten it. */
  forget(): void {
    this.#isForgotten = true
    this.#block = undefined
    this.#denial = undefined
  }

  /** Units have been given back, or are about to be: what was denied before may be allowed. */
  freed(): void {
    this.#denial = undefined
    this.#freedAtMs = this.#lessor.now()
  }

  #decideHere(cost: number, nowMs: number): Verdict | undefined {
    const verdict = this.#block?.use(cost, nowMs - this.#sentAtMs)
    return verdict ?? this.#denial?.repeat(cost, nowMs)
  }

  #ask(nowMs: number): void {
    const asked = this.#waiting
    this.#waiting = []
    this.#endBlock(nowMs)
    this.#denial = undefined
    this.#sentAtMs = nowMs
    this.#asking = this.#takeFor(asked)
  }

  /** Each charge is asked for by itself, so that where one fails, the others count; what is asked for in one turn goes together. */
  async #takeFor(asked: readonly Waiting[]): Promise<void> {
    const answers = asked.map(({ charge }) => this.#take(charge))
    const ahead = this.#chargesAhead(asked[0]?.cost ?? 1)
    const taken = this.#takeAhead(ahead)
    const outcomes = await Promise.allSettled(answers)
    const verdicts = await taken
    if (!this.#isForgotten) this.#keep(ahead, verdicts)
    this.#asking = undefined
    outcomes.forEach((outcome, i) => {
      settle(asked[i] as Waiting, outcome)
    })
    const last = outcomes.at(-1)
    if (last?.status === 'rejected') for (const each of this.#waiting.splice(0)) settle(each, last)
    if (this.#isClosed) this.#endBlock(this.#lessor.now())
    this.#serve()
  }

  async #take(charge: Charge): Promise<Verdict> {
    const { store } = this.#lessor
    return validateVerdict(store, charge, await store.charge([charge]))
  }

  /** Gives no verdict where the store fails: what it took all the same stays taken. */
  async #takeAhead(charges: readonly Charge[]): Promise<readonly Verdict[]> {
    const { store } = this.#lessor
    try {
      const answers = charges.length > 0 ? await store.charge(charges) : []
      return charges.map((charge, i) => validateVerdict(store, charge, [answers[i]]))
    } catch {
      return [] // those that wait are told
    }
  }

  /** What takes as many units as the key will soon use. */
  #chargesAhead(cost: number): Charge[] {
    if (this.#isForgotten) return []
    const units = Math.min(this.#largest, this.#demand.at(this.#sentAtMs))
    return rungs(units, cost).map((own) => [{ ...this.#held, cost: own }])
  }

  /** Keeps what was taken together with the last units; what was taken at another moment goes back, as far as it may. */
  #keep(charges: readonly Charge[], verdicts: readonly Verdict[]): void {
    const { holdMs, now } = this.#lessor
    const costs = charges.map(([part]) => (part as Part).cost)
    const last = verdicts.at(-1)
    if (last === undefined) return
    let units = 0
    verdicts.forEach((verdict, i) => {
      if (!verdict.allowed) return
      if (verdict.atMs === last.atMs) units += costs[i] as number
      else this.#end(this.#blockOf(costs[i] as number, verdict), now())
    })
    this.#block = this.#blockOf(units, last)
    if (last.allowed || this.#freedAtMs >= this.#sentAtMs) return
    this.#denial = new RepeatedDenial(costs.at(-1) as number, last, this.#sentAtMs, now(), holdMs)
  }

  #blockOf(units: number, verdict: Verdict): Block {
    return new Block(this.#held, this.#prepaid, this.#lessor.holdMs, units, verdict)
  }

  /** Answers those that have waited, in order, and asks again for those for whom it was not enough. */
  #serve(): void {
    const nowMs = this.#lessor.now()
    const { length } = this.#waiting
    let served = 0
    for (; served < length; served++) {
      const { cost, resolve } = this.#waiting[served] as Waiting
      const verdict = this.#decideHere(cost, nowMs)
      if (verdict === undefined) break
      resolve([verdict])
    }
    this.#waiting = this.#waiting.slice(served)
    if (this.#waiting.length > 0) this.#ask(nowMs)
  }
}

function settle({ resolve, reject }: Waiting, outcome: PromiseSettledResult<Verdict>): void {
  if (outcome.status === 'fulfilled') resolve([outcome.value])
  else reject(outcome.reason)
}

/** The most units of a key that a process holds: all of them together a sixteenth of the limit. */
export function largestBlock(limit: number, processes: number): number {
  return Math.floor(limit / (16 * processes))
}

/** Whether units of a key are wanted often enough in a time of `holdMs`. */
export function isHot(demand: number): boolean {
  return demand >= 8
}
