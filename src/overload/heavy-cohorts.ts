/**
 * A cohort is heavy if it has sent more than this many times what the light cohort of its class has sent.
 */
const TIMES_LIGHT = 4

/** The light cohort is at this quantile: a quarter of the cohorts that send have sent less. */
const LIGHT_QUANTILE = 0.25

/** A cohort that has sent no more than this is never heavy. One page may send twenty requests at once. */
const NEVER_HEAVY = 40

/** The part of a cohort's count that is left after a window. The count outlasts the loading of a page. */
const DECAY = 0.95

/**
 * The same for a heavy cohort whose flood is over: its other clients must not pay for the client that has
 * left.
 */
const DECAY_OF_PAST = 0.5

/** A cohort with a lower count has stopped sending: only the remains of past requests are left in it. */
const SENDS = 0.5

/**
 * Finds cohorts that send far more than others of their class, as a cohort with a client that floods does.
 * What a heavy cohort sends beyond what is usual in its class is its excess.
 */
export class HeavyCohorts {
  readonly #cohorts: number
  /** Requests by class and cohort. Older windows count less. */
  readonly #sent: Float64Array
  /** The same counts at the beginning of the window. */
  readonly #before: Float64Array
  /** The most that a cohort of each class may have sent without an excess. */
  readonly #usual: Float64Array

  constructor(classes: number, cohorts: number) {
    this.#cohorts = cohorts
    this.#sent = new Float64Array(classes * cohorts)
    this.#before = new Float64Array(classes * cohorts)
    this.#usual = new Float64Array(classes).fill(Number.POSITIVE_INFINITY)
  }

  /** Counts a request, and returns the share of its cohort's requests that is not excess. */
  record(priority: number, cohort: number): number {
    const index = priority * this.#cohorts + cohort
    const sent = (this.#sent[index] as number) + 1
    this.#sent[index] = sent
    return Math.min(1, (this.#usual[priority] as number) / sent)
  }

  /**
   * Closes a window, and finds what is usual now. A cohort that has just begun to send counts as if it had
   * always sent at its present rate. Otherwise, it would be light, and the others heavy.
   */
  advance(): void {
    for (let priority = 0; priority < this.#usual.length; priority++) {
      const [from, to] = [priority * this.#cohorts, (priority + 1) * this.#cohorts]
      const sending = this.#sent.slice(from, to).map((sent, i) => Math.max(sent, this.#lasting(from + i)))
      const sorted = sending.filter((each) => each >= SENDS).sort()
      const light = sorted[Math.floor(LIGHT_QUANTILE * (sorted.length - 1))] ?? 0
      const usual = Math.max(NEVER_HEAVY, TIMES_LIGHT * light)
      this.#usual[priority] = usual
      for (let index = from; index < to; index++) this.#age(index, usual)
    }
  }

  /** Returns the count that a cohort reaches if it keeps sending as in this window. */
  #lasting(index: number): number {
    return ((this.#sent[index] as number) - (this.#before[index] as number)) / (1 - DECAY)
  }

  #age(index: number, usual: number): void {
    const sent = this.#sent[index] as number
    const isOfPast = sent > usual && this.#lasting(index) < sent / 4
    this.#sent[index] = this.#before[index] = sent * (isOfPast ? DECAY_OF_PAST : DECAY)
  }
}
