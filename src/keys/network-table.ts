import { type Steps, sortSteps } from '../util/slices.js'
import type { Address } from './address.js'
import type { Range } from './address-list.js'
import {
  type Bounds,
  boundsOf,
  compareNumbers,
  type Numbers,
  numberAfter,
  numbersOf,
} from './network-bounds.js'

/** The addresses are divided into this many buckets of equal width, so that most searches take few steps. */
const BUCKETS = 4096

/**
 * Finds the longest of many networks that contain an address. The networks are cut into ranges that do not
 * overlap, each with the innermost network that contains it, and the ranges are searched.
 */
export class NetworkTable {
  readonly #ipv4: RangeTable
  readonly #ipv6: RangeTable
  /** The index of the next larger network around each network, by index; -1 if there is none. */
  readonly #outer: Int32Array

  private constructor(ipv4: RangeTable, ipv6: RangeTable, outer: Int32Array) {
    this.#ipv4 = ipv4
    this.#ipv6 = ipv6
    this.#outer = outer
  }

  /** Makes the table of networks. */
  static *steps(networks: readonly Network[]): Steps<NetworkTable> {
    const outer = new Int32Array(networks.length).fill(-1)
    const ipv4: IndexedBounds[] = []
    const ipv6: IndexedBounds[] = []
    for (const [index, { isIpv4, first, last }] of networks.entries()) {
      ;(isIpv4 ? ipv4 : ipv6).push({ first, last, index })
      yield
    }
    return new NetworkTable(yield* rangeTable(ipv4, outer), yield* rangeTable(ipv6, outer), outer)
  }

  /** Returns the index of the smallest network that contains an address; -1 if none does. */
  find(address: Address): number {
    return (typeof address === 'string' ? this.#ipv4 : this.#ipv6).find(numbersOf(address))
  }

  /** Returns the index of the next larger network around a network; -1 if there is none. */
  outerOf(index: number): number {
    return this.#outer[index] ?? -1
  }
}

/** A network as a table holds it. */
export type Network = Bounds & { readonly isIpv4: boolean }

/** Returns a range as a network of a table. */
export function networkOf(range: Range): Network {
  return { isIpv4: range[0].kind() === 'ipv4', ...boundsOf(range) }
}

type IndexedBounds = Bounds & { readonly index: number }

/** Makes the table of networks of one kind. Fills `outer` with the network around each. */
function* rangeTable(networks: readonly IndexedBounds[], outer: Int32Array): Steps<RangeTable> {
  return new RangeTable(yield* cut(networks, outer))
}

/** The ranges of one kind of addresses. */
class RangeTable {
  /** The first address of each range, in order. */
  readonly #high: Float64Array
  readonly #middle: Float64Array
  readonly #low: Float64Array
  /** The innermost network of each range; -1 if there is none. */
  readonly #networks: Int32Array
  /** The first range of each bucket. */
  readonly #buckets = new Int32Array(BUCKETS + 1)
  readonly #firstHigh: number
  readonly #bucketsPerUnit: number

  constructor({ starts, owners }: Ranges) {
    this.#high = new Float64Array(starts.length)
    this.#middle = new Float64Array(starts.length)
    this.#low = new Float64Array(starts.length)
    for (let i = 0; i < starts.length; i++) {
      const [high, middle, low] = starts[i] as Numbers
      this.#high[i] = high
      this.#middle[i] = middle
      this.#low[i] = low
    }
    this.#networks = Int32Array.from(owners)
    this.#firstHigh = this.#high[0] ?? 0
    this.#bucketsPerUnit = BUCKETS / ((this.#high.at(-1) ?? 0) - this.#firstHigh + 1)
    let bucket = 0
    for (let i = 0; i < starts.length; i++)
      for (const last = this.#bucketOf(this.#high[i] as number); bucket <= last; bucket++)
        this.#buckets[bucket] = i
    this.#buckets.fill(starts.length, bucket)
  }

  #bucketOf(high: number): number {
    return Math.floor((high - this.#firstHigh) * this.#bucketsPerUnit)
  }

  find([high, middle, low]: Numbers): number {
    const bucket = this.#bucketOf(high)
    if (bucket < 0) return -1
    const highs = this.#high
    let from = this.#buckets[Math.min(bucket, BUCKETS)] as number
    let to = this.#buckets[Math.min(bucket + 1, BUCKETS)] as number
    while (from < to) {
      const at = (from + to) >>> 1
      const order =
        (highs[at] as number) - high ||
        (this.#middle[at] as number) - middle ||
        (this.#low[at] as number) - low
      if (order <= 0) from = at + 1
      else to = at
    }
    return from === 0 ? -1 : (this.#networks[from - 1] as number)
  }
}

/** The first address of each range, and its innermost network; -1 if there is none. */
interface Ranges {
  readonly starts: readonly Numbers[]
  readonly owners: readonly number[]
}

/** Cuts networks into ranges. */
function* cut(networks: readonly IndexedBounds[], outer: Int32Array): Steps<Ranges> {
  const starts: Numbers[] = []
  const owners: number[] = []
  /** The networks around the current address, the innermost last. */
  const enclosing: IndexedBounds[] = []

  function begin(start: Numbers, network: number): void {
    const last = starts.at(-1)
    if (last !== undefined && compareNumbers(last, start) === 0) owners[owners.length - 1] = network
    else {
      starts.push(start)
      owners.push(network)
    }
  }

  function endBefore(next: Numbers | undefined): void {
    for (let network = enclosing.at(-1); network !== undefined; network = enclosing.at(-1)) {
      if (next !== undefined && compareNumbers(network.last, next) >= 0) return
      enclosing.pop()
      begin(numberAfter(network.last), enclosing.at(-1)?.index ?? -1)
    }
  }

  const largestFirst = (a: Bounds, b: Bounds) =>
    compareNumbers(a.first, b.first) || compareNumbers(b.last, a.last)
  for (const network of yield* sortSteps(networks, largestFirst)) {
    endBefore(network.first)
    outer[network.index] = enclosing.at(-1)?.index ?? -1
    enclosing.push(network)
    begin(network.first, network.index)
    yield
  }
  endBefore(undefined)
  return { starts, owners }
}
