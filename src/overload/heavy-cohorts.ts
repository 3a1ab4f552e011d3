/** A cohort is heavy if it sends more than this many times as many requests as a light one of its class. */
const TIMES_LIGHT = 4

/** The cohort that counts as light: of those that send, a quarter sends less. */
const LIGHT_QUANTILE = 0.25

/** A cohort that has sent no more than this is never heavy. A page may load twenty things at once. */
const NEVER_HEAVY = 40

/** How much of what a cohort has sent is left after a window. It outlasts the loading of a page. */
const DECAY = 0.95

/** The same for a heavy cohort whose client has gone: what is left is of others, who are not to pay for it. */
const DECAY_OF_PAST = 0.5

/** What a cohort has sent if it sends something still. Less is what is left of the past. */
const SENDS = 0.5

/**
 * Tells which cohorts of clients send far more than others of their class, as one does in which a client
 * floods the server. What such a cohort sends beyond what is usual in its class is its excess.
 */
export class HeavyCohorts {
  readonly #cohorts: number
  /** Requests by class and cohort. Older windows count less. */
  readonly #sent: Float64Array
  /** What was left of them at the beginning of the window. */
  readonly #before: Float64Array
  /** The most that a cohort of each class may have sent without an excess. */
  readonly #usual: Float64Array

  constructor(classes: number, cohorts: number) {
    this.#cohorts = cohorts
    this.#sent = new Float64Array(classes * cohorts)
    this.#before = new Float64Array(classes * cohorts)
    this.#usual = new Float64Array(classes).fill(Number.POSITIVE_INFINITY)
  }

  /** Counts a request, and returns which share of the requests of its cohort is no excess. */
  record(priority: number, cohort: number): number {
    const index = priority * this.#cohorts + cohort
    const sent = (this.#sent[index] as number) + 1
    this.#sent[index] = sent
    return Math.min(1, (this.#usual[priority] as number) / sent)
  }

  /**
   * Closes a window, and learns what is usual now. A cohort that has just begun to send counts as if it had
   * sent as much all along. Otherwise it would be light, and the others heavy.
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

  /** Returns what a cohort will have sent if it goes on as in this window. */
  #lasting(index: number): number {
    return ((this.#sent[index] as number) - (this.#before[index] as number)) / (1 - DECAY)
  }

  #age(index: number, usual: number): void {
    const sent = this.#sent[index] as number
    const isOfPast = sent > usual && this.#lasting(index) < sent / 4
    this.#sent[index] = this.#before[index] = sent * (isOfPast ? DECAY_OF_PAST : DECAY)
  }
}
