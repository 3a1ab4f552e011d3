import { nameHash } from './distinct-names.js'

/** All hashes are below this. */
const HASHES = 4_294_967_296

/** The hashes, in order, of those names of a set whose hash is below a threshold: of all names, at first. */
export interface DistinctSample {
  readonly below: number
  readonly hashes: readonly number[]
}

/** The sample of an empty set. */
export const NO_NAMES: DistinctSample = { below: HASHES, hashes: [] }

/**
 * Counts distinct names in bounded memory: exactly up to `capacity` of them. Then it samples them, by a
 * threshold of their hashes that sinks as names are added (Wegman's adaptive sampling; Flajolet, "On adaptive
 * sampling", 1990). The standard error is one in the root of `capacity`. Samples of processes can be merged.
 */
export class DistinctCounter implements DistinctSample {
  readonly hashes: number[] = []
  below = HASHES
  #capacity: number

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Returns whether the name is in the sample now. */
  add(name: string): boolean {
    return this.addHash(nameHash(name))
  }

  /** Adds a name by its `nameHash`. */
  addHash(hash: number): boolean {
    if (hash >= this.below) return false
    const at = indexOf(this.hashes, hash)
    if (this.hashes[at] === hash) return true
    this.hashes.splice(at, 0, hash)
    this.limit(this.#capacity)
    return hash < this.below
  }

  /** Keeps at most `capacity` names from now on. */
  limit(capacity: number): void {
    this.#capacity = capacity
    while (this.hashes.length > capacity) this.below = this.hashes.pop() ?? 0
  }

  /** Returns whether a name would be in the sample. */
  samples(name: string): boolean {
    return nameHash(name) < this.below
  }
}

/** Returns how many names a sample stands for. */
export function distinctIn({ below, hashes }: DistinctSample): number {
  return Math.round((hashes.length * HASHES) / below)
}

/** Returns the sample of a set without the names that a sample of another set has. */
export function withoutNames(sample: DistinctSample, other: DistinctSample): DistinctSample {
  const below = Math.min(sample.below, other.below)
  const others = new Set(other.hashes)
  return { below, hashes: sample.hashes.filter((hash) => hash < below && !others.has(hash)) }
}

/** Returns the sample of the union of sets, of at most `capacity` names. */
export function mergeSamples(samples: readonly DistinctSample[], capacity: number): DistinctSample {
  const used = samples.filter(({ below, hashes }) => hashes.length > 0 || below < HASHES)
  const [first = NO_NAMES] = used
  if (used.length <= 1) return firstOf(first, capacity)
  return unionOf(used, capacity)
}

/** Returns the sample of the same names with at most `capacity` of them. */
function firstOf(sample: DistinctSample, capacity: number): DistinctSample {
  const { hashes } = sample
  const next = hashes[capacity]
  return next === undefined ? sample : { below: next, hashes: hashes.slice(0, capacity) }
}

/** Where hashes are sorted: the same memory each time, since the garbage of many samples would cost more. */
let sorted: Uint32Array | undefined

function unionOf(samples: readonly DistinctSample[], capacity: number): DistinctSample {
  const below = samples.reduce((least, each) => Math.min(least, each.below), HASHES)
  const all = sortedHashes(samples, below)
  let distinct = 0
  for (let i = 0; i < all.length; i++) if (i === 0 || all[i] !== all[i - 1]) all[distinct++] = all[i] ?? 0
  const hashes = new Array<number>(Math.min(distinct, capacity))
  for (let i = 0; i < hashes.length; i++) hashes[i] = all[i] ?? 0
  return { below: distinct > capacity ? (all[capacity] ?? below) : below, hashes }
}

/** Returns all hashes below a threshold, in order. The next call overwrites them. */
function sortedHashes(samples: readonly DistinctSample[], below: number): Uint32Array {
  const most = samples.reduce((sum, { hashes }) => sum + hashes.length, 0)
  if (sorted === undefined || sorted.length < most) sorted = new Uint32Array(2 * most)
  let length = 0
  for (const { hashes } of samples) {
    for (const hash of hashes) {
      if (hash >= below) break
      sorted[length++] = hash
    }
  }
  return sorted.subarray(0, length).sort()
}

/** Returns a sample as JSON keeps it: the threshold, if it is not that of all names, and the hashes. */
export function sampleAsJson({ below, hashes }: DistinctSample): readonly number[] {
  return [below === HASHES ? 0 : below, ...hashes]
}

/** Returns the sample in a value from JSON; `undefined` for any other value. */
export function sampleInJson(value: unknown, capacity: number): DistinctSample | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > capacity + 1) return undefined
  const below: unknown = value[0] === 0 ? HASHES : value[0]
  if (!isHash(below)) return undefined
  let next = 0
  for (let i = 1; i < value.length; i++) {
    const hash: unknown = value[i]
    if (!isHash(hash) || hash < next) return undefined
    next = hash + 1
  }
  return next <= below ? { below, hashes: value.slice(1) } : undefined
}

function isHash(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= HASHES
}

/** Returns where a hash is among ordered ones, or where it belongs. */
function indexOf(hashes: readonly number[], hash: number): number {
  let [from, to] = [0, hashes.length]
  while (from < to) {
    const middle = (from + to) >>> 1
    if ((hashes[middle] ?? HASHES) < hash) from = middle + 1
    else to = middle
  }
  return from
}
