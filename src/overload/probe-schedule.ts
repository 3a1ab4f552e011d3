/** Between two probes of a server that denies. The example in Envoy's documentation probes every minute. */
const PROBE_EVERY_MS = 30_000
/** Probes take a twentieth of the time at most. */
const TIMES_LONGER = 20
/** A limit that has halved may face a slower server, and not a longer queue: then a probe is due soon. */
const PROBE_SOON_MS = 3000
/** Denials for less than this time are a burst, and need no probe. */
const LASTING_MS = 1000

/** When a probe is due: while requests are denied, since a probe keeps requests out that else would have a place. */
export class ProbeSchedule {
  readonly #random: () => number
  #nextAtMs = Number.NEGATIVE_INFINITY
  /** Denials before this time say that the baseline was measured under load. */
  #trustedFromMs = Number.POSITIVE_INFINITY
  #probes = 0
  /** Since when each window had a denial; `undefined` if the last one had none. */
  #deniedSinceMs: number | undefined
  #deniedAtMs = 0
  #hasDenied = false

  constructor(random: () => number) {
    this.#random = random
  }

  /** Whether the current window had a denial. */
  get hasDenied(): boolean {
    return this.#hasDenied
  }

  /** Whether there was no probe yet, and the server denied requests soon after its start. */
  get isFirst(): boolean {
    return this.#probes === 0 && (this.#deniedSinceMs ?? 0) < this.#trustedFromMs
  }

  /** The first requests have ended, and took this time. Denials within the same time again, or a second, are soon. */
  started(tookMs: number, nowMs: number): void {
    this.#trustedFromMs = nowMs + Math.max(LASTING_MS, tookMs)
  }

  recordDenial(nowMs: number): void {
    this.#hasDenied = true
    this.#deniedAtMs = nowMs
    this.#deniedSinceMs ??= nowMs
  }

  closeWindow(): void {
    if (!this.#hasDenied) this.#deniedSinceMs = undefined
    this.#hasDenied = false
  }

  /**
   * Returns whether a probe is due. Denials soon after the start have one begin at once, since the baseline was
   * then measured under load. Later, it is known from a calm time.
   */
  isDue(nowMs: number): boolean {
    if (this.#deniedSinceMs === undefined || nowMs < this.#nextAtMs) return false
    return this.isFirst || this.#deniedAtMs - this.#deniedSinceMs >= LASTING_MS
  }

  /** A probe is over that took this time. */
  recordProbe(tookMs: number, nowMs: number): void {
    this.#probes++
    this.#nextAtMs = nowMs + Math.max(PROBE_EVERY_MS, TIMES_LONGER * tookMs) * (0.75 + 0.5 * this.#random())
  }

  /** The limit has halved since the last probe. */
  hasten(nowMs: number): void {
    this.#nextAtMs = Math.min(this.#nextAtMs, nowMs + PROBE_SOON_MS)
  }
}
