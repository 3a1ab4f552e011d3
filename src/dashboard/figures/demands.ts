import { DistinctCounter, type DistinctSample } from '../../util/distinct-sample.js'

/** How many clients of all limits of a dashboard are counted, and of one limit: at least, and at most. */
const MAX_CLIENTS = 50_000
const MIN_OF_LIMIT = 250
const MAX_OF_LIMIT = 4000
/** The share of them that is a sample of all clients, whatever they ask for. */
const SAMPLE_SHARE = 0.25

interface Client {
  /** The number of the window that `units` are of. */
  window: number
  units: number
  /** The most units in one window, since the demands were taken last. */
  peak: number
  wasDenied: boolean
}

/** What a client asked for in one window, at most. */
export interface Demand {
  /** As it is in keys. */
  readonly identity: string
  readonly peak: number
  readonly wasDenied: boolean
}

/** What the clients of a limit asked for since the demands were taken last. */
export interface TakenDemands {
  /** A sample of all clients, for their number. */
  readonly clients: DistinctSample
  readonly demands: readonly Demand[]
}

/** Shares the memory for demands among all limits of a dashboard. */
export class DemandBudget {
  #limits = 0

  join(): void {
    this.#limits++
  }

  leave(): void {
    this.#limits--
  }

  /** How many clients a limit keeps. */
  get perLimit(): number {
    const share = Math.floor(MAX_CLIENTS / Math.max(1, this.#limits))
    return Math.min(MAX_OF_LIMIT, Math.max(MIN_OF_LIMIT, share))
  }
}

/**
 * Counts what each client of a limit asks for in a window of the limit, allowed or not. If there are too many
 * clients, it keeps those that ask for most, and a sample of all. Windows begin at multiples of their length.
 */
export class Demands {
  readonly #windowMs: number
  readonly #budget: DemandBudget
  #clients = new Map<string, Client>()
  #all: DistinctCounter

  constructor(windowMs: number, budget: DemandBudget) {
    this.#windowMs = windowMs
    this.#budget = budget
    budget.join()
    this.#all = this.#emptySample()
  }

  count(nowMs: number, identity: string, units: number, allowed: boolean): void {
    const window = Math.floor(nowMs / this.#windowMs)
    let client = this.#clients.get(identity)
    if (client === undefined) {
      client = { window, units: 0, peak: 0, wasDenied: false }
      this.#clients.set(identity, client)
      this.#all.add(identity)
      if (this.#clients.size > 2 * this.#budget.perLimit) this.#keepLargest()
    } else if (client.window !== window) {
      client.window = window
      client.units = 0
    }
    client.units += units
    if (client.units > client.peak) client.peak = client.units
    if (!allowed) client.wasDenied = true
  }

  /** Returns what was asked for since the last call, and begins anew. Counts of windows that last go on. */
  take(nowMs: number): TakenDemands {
    if (this.#clients.size > this.#budget.perLimit) this.#keepLargest()
    const window = Math.floor(nowMs / this.#windowMs)
    const demands: Demand[] = []
    const clients = this.#all
    this.#all = this.#emptySample()
    for (const [identity, client] of this.#clients) {
      if (client.peak > 0) demands.push({ identity, peak: client.peak, wasDenied: client.wasDenied })
      if (client.window !== window) this.#clients.delete(identity)
      client.peak = 0
      client.wasDenied = false
    }
    return { clients, demands }
  }

  #emptySample(): DistinctCounter {
    return new DistinctCounter(this.#sampleSize)
  }

  get #sampleSize(): number {
    return Math.floor(this.#budget.perLimit * SAMPLE_SHARE)
  }

  #keepLargest(): void {
    this.#all.limit(this.#sampleSize)
    const sampled: [string, Client][] = []
    const others: [string, Client][] = []
    for (const entry of this.#clients) (this.#all.samples(entry[0]) ? sampled : others).push(entry)
    others.sort(([, a], [, b]) => b.peak - a.peak)
    const kept = Math.max(0, this.#budget.perLimit - sampled.length)
    this.#clients = new Map([...sampled, ...others.slice(0, kept)])
  }
}
