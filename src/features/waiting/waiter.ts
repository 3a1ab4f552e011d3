import type { PartDecision } from '../../limiter/decision.js'
import type { NamedPart } from '../../limiter/receipt.js'

/** A charge that may wait. */
export interface Wait {
  readonly subject: unknown
  readonly parts: readonly NamedPart[]
  /** Its place in the order of arrival. */
  readonly arrival: number
  /** By `performance.now()`. */
  readonly deadlineMs: number
  readonly signal: AbortSignal | undefined
}

/** Who waits until its charge is allowed. It stands in one queue at a time. */
export interface Waiter extends Wait {
  /** Resolves when it has its turn, or its wait ends. */
  turn: Promise<void>
  /** Resolves `turn`. */
  wake: () => void
  /** Whether it may charge now. */
  hasTurn: boolean
  /** The figures of its parts as it charged in this turn; empty if it did not, or they are outdated. */
  figures: readonly PartDecision[]
  queue: Queue | undefined
  /** The queues of its other keys, while it charges. */
  otherQueues: readonly Queue[]
  /** Its neighbours in the queue. */
  earlier: Waiter | undefined
  later: Waiter | undefined
}

/**
 * The waiters of one key, by arrival. While there are any, some have their turn, a timer runs for the first,
 * or an outsider charges the key: one that is not in the queue.
 */
export class Queue {
  readonly key: string
  first: Waiter | undefined
  last: Waiter | undefined
  /** How many charge the key who are not in the queue. */
  outsiders = 0
  /** How many times units came back. */
  returns = 0
  /** The figures of the last denial, and when that was. */
  figures: PartDecision | undefined
  knownAtMs = 0
  /** When the first has its turn. */
  turnAtMs = 0
  /** No charge is allowed earlier. */
  notBeforeMs = 0
  /** No deadline in the queue is earlier. */
  soonestMs = Number.POSITIVE_INFINITY
  /** Cancels the timer of the first, if there is one. */
  cancelTimer: (() => void) | undefined

  constructor(key: string) {
    this.key = key
  }
}

/** Creates a waiter, which is in no queue. */
export function createWaiter(wait: Wait): Waiter {
  return {
    ...wait,
    turn: Promise.resolve(),
    wake: () => {},
    hasTurn: false,
    figures: [],
    queue: undefined,
    otherQueues: [],
    earlier: undefined,
    later: undefined,
  }
}

/**
 * Returns for how long no charge of a key is allowed; 0 for `concurrency`, because any release may end it.
 */
export function exactMs(waiter: Waiter | undefined, key: string, afterMs: number): number {
  const policy = waiter?.parts.find((part) => part.key === key)?.policy
  const isHint = policy?.holdsUnits && afterMs !== Number.POSITIVE_INFINITY
  return isHint ? 0 : afterMs
}

/** Returns how many units of a queue's key a waiter charges. */
export function unitsOf({ parts }: Waiter, { key }: Queue): number {
  return parts.find((part) => part.key === key)?.cost ?? 0
}
