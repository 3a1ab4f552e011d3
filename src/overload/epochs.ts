import { FirstRequests } from './first-requests.js'

/** The epoch in which a request began. Its complement, if the request is not measured. */
export type Epoch = number

/** How many requests are measured at the start of the process, and in each probe. */
const MEASURED = 30
/** The most requests that are measured, if too few belong to one of their classes of routes. */
const MOST_MEASURED = 100
/** After this time, the requests that have begun are enough, if there are ten. */
const LONGEST_MS = 2000
const MIN_MEASURED = 10
/** After this time, the measurement is given up. */
const GIVE_UP_MS = 60_000

/**
 * The epochs of a guard: its start, its probes, and the times between them. At the start and in a probe, the
 * first requests that begin are measured, until all of them have ended. In between, every request counts
 * that began since the last probe.
 */
export class Epochs {
  #kind: 'start' | 'probe' | 'between' = 'start'
  #epoch: Epoch = 0
  #beganAtMs: number | undefined
  #first: FirstRequests | undefined = new FirstRequests(MEASURED)

  /** Whether this epoch is the first one. */
  get isStart(): boolean {
    return this.#kind === 'start'
  }

  get isProbe(): boolean {
    return this.#kind === 'probe'
  }

  /** Returns how long this epoch has lasted. */
  ageMs(nowMs: number): number {
    this.#beganAtMs ??= nowMs
    return nowMs - this.#beganAtMs
  }

  /** Returns the epoch of a request that begins now. */
  begin(nowMs: number): Epoch {
    return this.#first === undefined || this.#first.begin(nowMs) ? this.#epoch : ~this.#epoch
  }

  /** Counts the end of a request that counts now. */
  end(latencyMs: number): void {
    this.#first?.end(latencyMs)
  }

  /** Returns whether a request of this epoch counts now. */
  isCurrent(epoch: Epoch): boolean {
    return epoch === this.#epoch
  }

  isEarlier(epoch: Epoch): boolean {
    return (epoch < 0 ? ~epoch : epoch) < this.#epoch
  }

  /** Whether the measurement of this epoch has taken too long. */
  isGivenUp(nowMs: number): boolean {
    return this.#first !== undefined && this.ageMs(nowMs) > GIVE_UP_MS
  }

  /**
   * Returns whether all measured requests have ended. `needsMore` returns whether a class has too few of
   * them, and is called only then.
   */
  isMeasured(nowMs: number, needsMore: () => boolean): boolean {
    const first = this.#first
    if (first === undefined) return false
    const ageMs = this.ageMs(nowMs)
    if (ageMs > LONGEST_MS && first.begun >= MIN_MEASURED) first.close()
    if (!first.areOver(nowMs)) return false
    if (first.begun >= MOST_MEASURED || ageMs > LONGEST_MS || !needsMore()) return true
    first.addWanted(Math.min(MEASURED, MOST_MEASURED - first.begun))
    return false
  }

  startProbe(nowMs: number): void {
    this.#next('probe', nowMs)
    this.#first = new FirstRequests(MEASURED)
  }

  /** Ends the start, or a probe. */
  endMeasurement(nowMs: number): void {
    this.#next('between', nowMs)
    this.#first = undefined
  }

  #next(kind: 'probe' | 'between', nowMs: number): void {
    this.#kind = kind
    this.#epoch++
    this.#beganAtMs = nowMs
  }
}
