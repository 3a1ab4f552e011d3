import { type BatcherOptions, batcher, type Send } from '../../../../src/stores/shared/batcher.js'

export type Answers = readonly (string | Error)[]

/** A `send` that answers all items of a batch at once. */
export function whole<Item, Answer>(
  send: (items: readonly Item[]) => Promise<readonly (Answer | Error)[]>,
): Send<Item, Answer> {
  return async (items, answer) => {
    const answers = await send(items)
    answers.forEach((each, index) => {
      answer(index, each)
    })
  }
}

/** A batcher that takes one item at a time. */
export function singleItemBatcher<Item, Answer>(
  send: Send<Item, Answer>,
  options: BatcherOptions<Item>,
): (item: Item) => Promise<Answer> {
  const { submitAll } = batcher(send, options)
  return async (item) => {
    const answers = await submitAll([item])
    expect(answers).toHaveLength(1)
    return answers[0] as Answer
  }
}

/** A `send` whose batches a test answers. */
export function byHand() {
  const batches: (readonly number[])[] = []
  const pending: { answer(answers?: Answers): void; fail(reason: unknown): void }[] = []
  const send = (items: readonly number[]): Promise<Answers> =>
    new Promise((resolve, reject) => {
      batches.push(items)
      pending.push({ answer: (answers = items.map(String)) => resolve(answers), fail: reject })
    })
  const at = (i: number) => {
    const found = pending[i]
    if (found === undefined) throw new Error(`batch ${i} was not sent`)
    return found
  }
  return { send: whole(send), batches, at }
}
