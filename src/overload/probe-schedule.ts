/**
 * The time between probes while a server denies. The example in Envoy's documentation probes every minute.
 */
const PROBE_EVERY_MS = 30_000
/** Probes take a twentieth of the time at most. */
const TIMES_LONGER = 20
/**
 * If the limit has halved, the server may be slower and not have a longer queue. So a probe is due after
 * this time, as it is to confirm another one.
 */
const PROBE_SOON_MS = 3000
/**
 * Denials for less than this time are a burst, and need no probe. After this time without one, it is over.
 */
const LASTING_MS = 1000

/** When a probe is due. It keeps requests out, so it runs only while some are denied anyway. */
export class ProbeSchedule {
  readonly #random: () => number
  #nextAtMs = Number.NEGATIVE_INFINITY
  /** Denials before this time say that the baseline was measured under load. */
  #trustedFromMs = Number.POSITIVE_INFINITY
  #probes = 0
  /** When the first and the last of the recent denials were. */
  #deniedSinceMs = Number.NEGATIVE_INFINITY
  #deniedAtMs = Number.NEGATIVE_INFINITY
  #hasDenied = false

  constructor(random: () => number) {
    this.#random = random
  }

  /** Whether the current window had a denial. */
  get hasDenied(): boolean {
    return this.#hasDenied
  }

  /** Whether there has been no probe yet, and the server denied requests soon after its start. */
  get isFirst(): boolean {
    return this.#probes === 0 && this.#deniedSinceMs < this.#trustedFromMs
  }

  /**
   * Records that the first requests have ended, and how long that took. Denials within the same time again,
   * or within a second, come soon after the start.
   */
  recordStart(tookMs: number, nowMs: number): void {
    this.#trustedFromMs = nowMs + Math.max(LASTING_MS, tookMs)
  }

  recordDenial(nowMs: number): void {
    this.#hasDenied = true
    if (nowMs - this.#deniedAtMs > LASTING_MS) this.#deniedSinceMs = nowMs
    this.#deniedAtMs = nowMs
  }

  closeWindow(): void {
    this.#hasDenied = false
  }

  /**
   * Returns whether a probe is due. After denials soon after the start, it is due at once, because the
   * baseline was measured under load. After later denials, the baseline is known from a calm time.
   */
  isDue(nowMs: number): boolean {
    if (nowMs - this.#deniedAtMs > LASTING_MS || nowMs < this.#nextAtMs) return false
    return this.isFirst || this.#deniedAtMs - this.#deniedSinceMs >= LASTING_MS
  }

  /** Records the end of a probe, and schedules the next one. */
  recordProbe(tookMs: number, nowMs: number): void {
    this.#probes++
    this.#nextAtMs = nowMs + Math.max(PROBE_EVERY_MS, TIMES_LONGER * tookMs) * (0.75 + 0.5 * this.#random())
  }

  /** Makes the next probe due soon. */
  hasten(nowMs: number): void {
    this.#nextAtMs = Math.min(this.#nextAtMs, nowMs + PROBE_SOON_MS)
  }
}
