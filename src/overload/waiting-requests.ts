import { Codel } from './codel.js'
import { PRIORITIES } from './cohorts.js'
import { Fifo } from './fifo.js'
import type { Ticket, Verdict } from './ticket.js'

/** The waiting requests of one rank. */
interface Level {
  readonly queue: Fifo<Ticket>
  readonly codel: Codel
  /** How many requests in the queue have not left. */
  waiting: number
}

/** The requests that wait for a place, in the order in which they get one: by rank, and then by arrival. */
export class WaitingRequests {
  /** By rank. The last level is served first. */
  readonly #levels: readonly Level[]
  #count = 0
  #isServing = false

  constructor(targetWaitMs: number, burstWaitMs: number) {
    this.#levels = Array.from({ length: 2 * PRIORITIES.length }, () => ({
      queue: new Fifo<Ticket>(),
      codel: new Codel(targetWaitMs, burstWaitMs),
      waiting: 0,
    }))
  }

  get count(): number {
    return this.#count
  }

  /** Returns whether any waiting request is served before a new one of this rank. */
  isAnyAhead(rank: number): boolean {
    if (this.#count === 0) return false
    for (let i = this.#levels.length - 1; i >= rank; i--) if (this.#level(i).waiting > 0) return true
    return false
  }

  add(ticket: Ticket): void {
    const level = this.#level(ticket.rank)
    if (level.waiting === 0) level.codel.begin()
    level.queue.push(ticket)
    level.waiting++
    this.#count++
  }

  /** Removes a request that has left from the counts. The queue skips it when its turn comes. */
  remove({ rank }: Ticket): void {
    const level = this.#level(rank)
    this.#countOut(level)
    if (level.waiting === 0) level.queue.clear()
  }

  /** Records how long a request waited, whether or not it got a place: 0 if it did not have to wait. */
  recordWait({ rank }: Ticket, waitedMs: number, nowMs: number): void {
    this.#level(rank).codel.observe(waitedMs, nowMs)
  }

  /** Returns for how long a request of this rank may wait. */
  maxWaitMs(rank: number, nowMs: number): number {
    return this.#level(rank).codel.maxWaitMs(nowMs)
  }

  /**
   * Decides about the waiting requests and settles them. If a request has to wait longer, so do those of its
   * rank behind it. A settled request may end at once, which calls this method again. The inner call does
   * nothing, because the outer one goes on to the next request.
   */
  serve(decide: (ticket: Ticket) => Verdict): void {
    if (this.#count === 0 || this.#isServing) return
    this.#isServing = true
    try {
      for (let i = this.#levels.length - 1; i >= 0; i--) this.#serveLevel(this.#level(i), decide)
    } finally {
      this.#isServing = false
    }
  }

  #serveLevel(level: Level, decide: (ticket: Ticket) => Verdict): void {
    const { queue } = level
    for (let ticket = queue.first; ticket !== undefined; ticket = queue.first) {
      const verdict = ticket.state === 'waiting' ? decide(ticket) : 'left'
      if (verdict === 'waiting') return
      queue.shift()
      if (verdict === 'left') continue
      this.#countOut(level)
      ticket.settle(verdict === 'admitted')
    }
  }

  #countOut(level: Level): void {
    level.waiting--
    this.#count--
  }

  #level(rank: number): Level {
    return this.#levels[rank] as Level
  }
}
