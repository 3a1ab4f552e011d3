/** How a batcher gathers. */
export interface BatcherOptions<Item> {
  /** The most weight that goes together. A single item that weighs more goes alone. */
  readonly maxWeight: number
  /** What an item weighs. Default: every item weighs 1. */
  readonly weigh?: (item: Item) => number
  /** The most batches that are on their way at once. */
  readonly maxInFlight: number
}

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
 * `send` gives an answer for each item, in order; an `Error` among the answers rejects the call that its item came with.
 * When `send` itself rejects, all items of the batch are rejected with the same reason. Nothing is ever sent twice.
 */
export function batcher<Item, Answer>(
  send: (items: readonly Item[]) => Promise<readonly (Answer | Error)[]>,
  { maxWeight, maxInFlight, weigh = () => 1 }: BatcherOptions<Item>,
): (items: readonly Item[]) => Promise<Answer[]> {
  let waiting: Waiting<Item, Answer>[] = []
  let inFlight = 0
  let isScheduled = false

  function schedule(): void {
    if (isScheduled || waiting.length === 0 || inFlight >= maxInFlight) return
    isScheduled = true
    if (inFlight === 0) process.nextTick(flush)
    else setImmediate(flush)
  }

  function flush(): void {
    isScheduled = false
    const share = Math.max(MIN_SHARE, Math.ceil(waiting.length / (maxInFlight - inFlight)))
    let from = 0
    while (from < waiting.length && inFlight < maxInFlight) {
      const to = endOfBatch(from, from + share)
      inFlight++
      deliver(waiting.slice(from, to)).then(land)
      from = to
    }
    waiting = waiting.slice(from)
  }

  function endOfBatch(from: number, most: number): number {
    let weight = 0
    let to = from
    while (to < waiting.length && to < most) {
      weight += weigh((waiting[to] as Waiting<Item, Answer>).item)
      if (weight > maxWeight && to > from) break
      to++
    }
    return to
  }

  function land(): void {
    inFlight--
    schedule()
  }

  async function deliver(batch: readonly Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await send(batch.map(({ item }) => item))
      batch.forEach(({ resolve, reject }, i) => {
        const answer = answers[i] as Answer | Error
        if (answer instanceof Error) reject(answer)
        else resolve([answer])
      })
    } catch (reason) {
      for (const { reject } of batch) reject(reason)
    }
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
