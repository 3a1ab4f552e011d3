import { batchPicker } from './batch-picker.js'
import { publishToStoreChannel, storeChannel } from './store-channel.js'

/** Options of `batcher`. */
export interface BatcherOptions<Item> {
  /** The name of the store that publishes its batches to the channel `headgate:store`. Default: none does. */
  readonly store?: string
  /** The largest weight of a batch. An item that weighs more goes alone. */
  readonly maxWeight: number
  /** Returns the weight of an item. Default: every item weighs 1. */
  readonly weigh?: (item: Item) => number
  /** The most batches in flight at once. A stalled batch no longer counts. */
  readonly maxInFlight: number
  /** Returns what an item locks, such as rows: batches in flight never share a lock. Default: nothing. */
  readonly lockKeys?: (item: Item) => readonly string[]
  /** How long a batch delays others while none of its items has an answer, in ms. Default 50. */
  readonly stallTimeoutMs?: number
  /** The most batches without any answer at once, stalled ones included. Default: no limit. */
  readonly maxUnanswered?: number
}

/**
 * Sends a batch. Calls `answer` with each item's index as soon as its outcome is known; an `Error` rejects
 * the item. A rejection rejects all items that have no answer yet.
 */
export type Send<Item, Answer> = (
  items: readonly Item[],
  answer: (index: number, answer: Answer | Error) => void,
) => Promise<void>

/** Called with the outcome of an item, never before `submit` returns. Further calls have no effect. */
type Settle<Answer> = (outcome: Answer | Error) => void

interface Waiting<Item, Answer> {
  readonly item: Item
  readonly settle: Settle<Answer>
}

/** A batch that was sent. */
interface Flight {
  readonly sentAtMs: number
  /** Whether it took longer than the stall timeout, so that it no longer delays others. */
  hasStalled: boolean
  isAnswered: boolean
}

/** Sends items in batches. */
export interface Batcher<Item, Answer> {
  /** Sends an item. It takes a callback, since a promise for each would cost as much as to send it. */
  submit(item: Item, settle: Settle<Answer>): void
  /** Sends items. Resolves with their answers, in order. */
  submitAll(items: readonly Item[]): Promise<Answer[]>
}

/** Fewer items than this are not split into several batches. */
const MIN_SPLIT = 16

/**
 * Creates a batcher. Items that arrive within one turn of the event loop, or while `maxInFlight` batches are
 * in flight, go together. With none in flight, a batch leaves as soon as the current code has run, so that a
 * lone caller is not delayed. Many items are split evenly over the batches that may be in flight, so that
 * this process and the server work at the same time.
 *
 * A batch is in flight until the first of its items has an answer. So where a part of a store hangs (one
 * node of a cluster), other items and later batches are still answered. Nothing is ever sent twice.
 */
export function batcher<Item, Answer>(
  send: Send<Item, Answer>,
  {
    store,
    maxWeight,
    maxInFlight,
    weigh = () => 1,
    lockKeys,
    stallTimeoutMs = 50,
    maxUnanswered = Number.POSITIVE_INFINITY,
  }: BatcherOptions<Item>,
): Batcher<Item, Answer> {
  const { pick, release } = batchPicker<Waiting<Item, Answer>>(
    maxWeight,
    ({ item }) => weigh(item),
    lockKeys && (({ item }) => lockKeys(item)),
  )
  let waiting: Waiting<Item, Answer>[] = []
  const unanswered: Flight[] = [] // the oldest first
  let isScheduled = false
  let isWatching = false

  const inFlight = () => unanswered.filter(({ hasStalled }) => !hasStalled)
  /** How many batches may leave now. */
  const room = () => Math.min(maxInFlight - inFlight().length, maxUnanswered - unanswered.length)

  function schedule(): void {
    if (isScheduled || waiting.length === 0) return
    if (room() <= 0) {
      watch()
      return
    }
    isScheduled = true
    if (inFlight().length === 0) process.nextTick(flush)
    else setImmediate(flush)
  }

  function flush(): void {
    isScheduled = false
    const maxItems = Math.max(MIN_SPLIT, Math.ceil(waiting.length / Math.max(1, room())))
    while (waiting.length > 0 && room() > 0) {
      const [batch, rest] = pick(waiting, maxItems)
      if (batch.length === 0) return // every waiting item needs a lock of a batch in flight
      waiting = rest
      deliver(batch)
    }
    schedule()
  }

  /** Schedules a batch once the oldest one in flight has stalled. */
  function watch(): void {
    const [oldest] = inFlight()
    if (isWatching || oldest === undefined) return
    isWatching = true
    const stall = () => {
      isWatching = false
      oldest.hasStalled = true
      schedule()
    }
    setTimeout(stall, Math.max(1, oldest.sentAtMs + stallTimeoutMs - performance.now()))
  }

  async function deliver(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    const flight: Flight = { sentAtMs: performance.now(), hasStalled: false, isAnswered: false }
    unanswered.push(flight)
    const markAnswered = () => {
      if (flight.isAnswered) return
      flight.isAnswered = true
      unanswered.splice(unanswered.indexOf(flight), 1)
      schedule()
    }
    try {
      await send(
        batch.map(({ item }) => item),
        (index, answer) => {
          batch[index]?.settle(answer)
          markAnswered()
        },
      )
    } catch (reason) {
      for (const { settle } of batch) settle(reason as Error)
    }
    if (store !== undefined && storeChannel.hasSubscribers) {
      const durationMs = performance.now() - flight.sentAtMs
      publishToStoreChannel({ type: 'batch', store, size: batch.length, durationMs })
    }
    release(batch)
    markAnswered()
    schedule() // for items that waited for its locks
  }

  function submit(item: Item, settle: Settle<Answer>): void {
    waiting.push({ item, settle })
    schedule()
  }

  /** Resolves with the answer in a list: one promise, also for the only item of a call. */
  const answerTo = (item: Item): Promise<[Answer]> =>
    new Promise((resolve, reject) => {
      submit(item, (outcome) => (outcome instanceof Error ? reject(outcome) : resolve([outcome])))
    })

  return {
    submit,
    submitAll(items) {
      if (items.length === 1) return answerTo(items[0] as Item)
      return Promise.all(items.map(answerTo)).then((answers) => answers.flat() as Answer[])
    },
  }
}
