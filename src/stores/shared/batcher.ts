import { patience } from '../../resilience/patience.js'
import { picker } from './batch-picker.js'

/** How a batcher gathers. */
export interface BatcherOptions<Item> {
  /** The most weight that goes together. A single item that weighs more goes alone. */
  readonly maxWeight: number
  /** What an item weighs. Default: every item weighs 1. */
  readonly weigh?: (item: Item) => number
  /** The most batches that are on their way at once, not counting those that are stuck. */
  readonly maxInFlight: number
  /**
   * What an item has to itself while it is decided, such as rows. Items that need what an earlier batch holds wait until that is
   * done, so that batches on their way never stand in each other's way. Default: nothing.
   */
  readonly holds?: (item: Item) => readonly string[]
  /**
   * How long a batch keeps others from leaving, in milliseconds; then it is held to be stuck. Default: four times as long as the last
   * one took, within bounds.
   */
  readonly patienceMs?: number
  /** The most batches that may be stuck at once, and with some that are stuck, those on their way included. Default: any number. */
  readonly maxStuck?: number
}

/**
 * Sends a batch, and answers each of its items by its place as soon as its answer is known: an `Error` rejects the call that the
 * item came with. Rejecting rejects all that have no answer yet with the same reason.
 */
export type Send<Item, Answer> = (
  items: readonly Item[],
  answer: (place: number, answer: Answer | Error) => void,
) => Promise<void>

/** An item, and who waits for its answer. */
interface Waiting<Item, Answer> {
  readonly item: Item
  readonly resolve: (answer: [Answer]) => void
  readonly reject: (reason: unknown) => void
}

/** Fewer items than this are not split to have more batches on their way. */
const MIN_SHARE = 16

/**
 * Stands before a remote store: items of one turn of the event loop, and those that come while batches are on their way,
 * go together, in the order of their arrival. While nothing is on its way, a batch leaves as soon as the code that runs now is
 * done, so that a lone caller waits for nothing else; what the rest of the turn brings goes in the next batch, at the end of
 * the turn. Many items are split evenly over the batches that may be on their way, so that this process and the server
 * work at the same time.
 *
 * A batch is on its way until the first of its items is answered. Where one part of a store is stuck (a node of a cluster that
 * hangs), the other items of a batch are answered all the same, and so are later batches. Nothing is ever sent twice.
 */
export function batcher<Item, Answer>(
  send: Send<Item, Answer>,
  {
    maxWeight,
    maxInFlight,
    weigh = () => 1,
    holds,
    patienceMs,
    maxStuck = Number.POSITIVE_INFINITY,
  }: BatcherOptions<Item>,
): (items: readonly Item[]) => Promise<Answer[]> {
  const { pick, release } = picker<Waiting<Item, Answer>>({
    maxWeight,
    weigh: ({ item }) => weigh(item),
    holds: holds && (({ item }) => holds(item)),
  })
  const patient = patience(patienceMs)
  let waiting: Waiting<Item, Answer>[] = []
  /** When each has left, in order. */
  const inFlight = new Map<symbol, number>()
  const stuck = new Set<symbol>()
  let isScheduled = false
  let isWatched = false

  /** How many batches may leave now. */
  const room = () => Math.min(maxInFlight, maxStuck - stuck.size) - inFlight.size

  function schedule(): void {
    if (isScheduled || waiting.length === 0) return
    if (room() <= 0) {
      watch()
      return
    }
    isScheduled = true
    if (inFlight.size === 0) process.nextTick(flush)
    else setImmediate(flush)
  }

  function flush(): void {
    isScheduled = false
    const share = Math.max(MIN_SHARE, Math.ceil(waiting.length / Math.max(1, room())))
    while (waiting.length > 0 && room() > 0) {
      const [batch, rest] = pick(waiting, share)
      if (batch.length === 0) return // those that wait do so for what is on its way
      waiting = rest
      deliver(batch)
    }
    schedule()
  }

  /** Lets those that wait go when a batch has not been answered for a while. */
  function watch(): void {
    if (isWatched) return
    const [oldestLeftAtMs] = inFlight.values()
    if (oldestLeftAtMs === undefined) return
    isWatched = true
    setTimeout(look, Math.max(1, oldestLeftAtMs + patient.ms - performance.now()))
  }

  function look(): void {
    isWatched = false
    const longAgoMs = performance.now() - patient.ms
    for (const [flight, leftAtMs] of inFlight) {
      if (leftAtMs > longAgoMs) break
      inFlight.delete(flight)
      stuck.add(flight)
    }
    schedule()
  }

  async function deliver(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    const flight = Symbol('batch')
    const leftAtMs = performance.now()
    inFlight.set(flight, leftAtMs)
    let isOnItsWay = true
    const land = () => {
      if (!isOnItsWay) return
      isOnItsWay = false
      inFlight.delete(flight)
      stuck.delete(flight)
      schedule()
    }
    try {
      await send(
        batch.map(({ item }) => item),
        (place, answer) => {
          const { resolve, reject } = batch[place] as Waiting<Item, Answer>
          if (answer instanceof Error) reject(answer)
          else resolve([answer])
          if (isOnItsWay) patient.learn(performance.now() - leftAtMs)
          land()
        },
      )
    } catch (reason) {
      for (const { reject } of batch) reject(reason)
    }
    release(batch)
    land()
    schedule()
  }

  function enqueue(item: Item): Promise<[Answer]> {
    return new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      schedule()
    })
  }

  return (items) => {
    if (items.length === 1) return enqueue(items[0] as Item)
    return Promise.all(items.map(enqueue)).then((answers) => answers.flat() as Answer[])
  }
}
