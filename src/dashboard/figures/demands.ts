import { type Curve, IN_FORCE } from '../../tuning/demand-curve.js'
import { DistinctCounter, type DistinctSample } from '../../util/distinct-sample.js'
import type { Meter, Metered, UnitsBack } from './meters/meter.js'

/** How many clients of all limits of a dashboard are counted, and of one limit: at least, and at most. */
const MAX_CLIENTS = 50_000
const MIN_OF_LIMIT = 250
const MAX_OF_LIMIT = 4000
/** The share of them that is a sample of all clients, whatever they ask for. */
const SAMPLE_SHARE = 0.25
/** Clients of whom more numbers are kept make room for fewer. */
const USUAL_WIDTH = 16

interface Client extends Metered {
  /** The most that the limit itself saw in use, in all processes. */
  seen: number
  wasDenied: boolean
}

/** What a client asked for, at most. */
export interface Demand {
  /** As it is in keys. */
  readonly identity: string
  /** What it would have used in this process, if nothing had been denied. */
  readonly peaks: Curve
  /** What the limit saw in use, in all processes; the units that it denied are added. */
  readonly seen: number
  /** Whether the limit denied it. A ban by hand, or one that still lasts, does not count. */
  readonly wasDenied: boolean
}

/** What a store has decided on a charge. */
export interface Asked {
  readonly units: number
  /** How many units are in use after it, or would be; 0 if that is not known. */
  readonly used: number
  readonly isDenied: boolean
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

  /** How many clients a limit keeps, if it keeps so many numbers of each. */
  clientsOf(width: number): number {
    const share = Math.floor(MAX_CLIENTS / Math.max(1, this.#limits) / Math.max(1, width / USUAL_WIDTH))
    return Math.min(MAX_OF_LIMIT, Math.max(MIN_OF_LIMIT, share))
  }
}

/**
 * Counts what each client of a limit asks for, allowed or not, in the terms of its policy. If there are too many
 * clients, it keeps those that ask for most, and a sample of all.
 */
export class Demands {
  readonly #meter: Meter
  readonly #budget: DemandBudget
  #clients = new Map<string, Client>()
  #all: DistinctCounter
  #isIdle = true

  constructor(meter: Meter, budget: DemandBudget) {
    this.#meter = meter
    this.#budget = budget
    budget.join()
    this.#all = this.#emptySample()
  }

  count(atMs: number, identity: string, { units, used, isDenied }: Asked): void {
    let client = this.#clients.get(identity)
    if (client === undefined) {
      client = { state: undefined, peaks: [], seen: 0, wasDenied: false }
      this.#clients.set(identity, client)
      this.#all.add(identity)
      if (this.#clients.size > 2 * this.#most) this.#keepLargest()
    }
    this.#isIdle = false
    this.#meter.add(client, atMs, units)
    if (used > client.seen) client.seen = used
    if (isDenied) client.wasDenied = true
  }

  /** Counts units that a decision took after its charge, as if they had been asked for then. */
  addLater(atMs: number, identity: string, units: number): void {
    const client = this.#clients.get(identity)
    if (client === undefined || units === 0) return
    this.#meter.add(client, atMs, units)
    this.#isIdle = false
  }

  /** Takes off what came back from a charge. */
  refund(nowMs: number, identity: string, back: UnitsBack): void {
    const client = this.#clients.get(identity)
    if (client !== undefined) this.#meter.refund(client, nowMs, back)
  }

  /** Whether nothing was asked for since the demands were taken last. */
  get isIdle(): boolean {
    return this.#isIdle
  }

  /**
   * Returns what was asked for since the last call, and starts over. What is still in use goes on: it counts
   * together with what other processes are asked for next.
   */
  take(nowMs: number): TakenDemands {
    if (this.#clients.size > this.#most) this.#keepLargest()
    const clients = this.#all
    this.#all = this.#emptySample()
    this.#isIdle = true
    const demands = Array.from(this.#clients, ([identity, client]): Demand => {
      const { seen, wasDenied } = client
      const peaks = this.#meter.take(client, nowMs)
      if (client.state === undefined) this.#clients.delete(identity)
      else this.#all.add(identity)
      client.seen = 0
      client.wasDenied = false
      return { identity, peaks, seen, wasDenied }
    })
    return { clients, demands }
  }

  get #most(): number {
    return this.#budget.clientsOf(this.#meter.width)
  }

  #emptySample(): DistinctCounter {
    return new DistinctCounter(this.#sampleSize)
  }

  get #sampleSize(): number {
    return Math.floor(this.#most * SAMPLE_SHARE)
  }

  #keepLargest(): void {
    this.#all.limit(this.#sampleSize)
    const sampled: [string, Client][] = []
    const others: [string, Client][] = []
    for (const entry of this.#clients) (this.#all.samples(entry[0]) ? sampled : others).push(entry)
    others.sort(([, a], [, b]) => peakOf(b) - peakOf(a))
    const kept = Math.max(0, this.#most - sampled.length)
    this.#clients = new Map([...sampled, ...others.slice(0, kept)])
  }
}

function peakOf({ peaks }: Client): number {
  return peaks[IN_FORCE] ?? peaks[0] ?? 0
}
