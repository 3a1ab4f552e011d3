import { fixedWindow, type Store } from 'headgate'
import type { Charge, Operation, Outcome } from 'headgate/store'
import { Batcher } from '../../../src/pipe/batcher.js'
import type { Batching } from '../../../src/stores/store.js'

export type Answers = readonly (number | Error)[]

const policy = fixedWindow({ limit: 100_000, window: '1h' })

/** A charge of a numbered item. Each item has its own key, unless told. */
export function chargeOf(item: number, keys: readonly string[] = [`${item}`]): Charge {
  return { type: 'charge', parts: keys.map((key) => ({ key, policy, cost: item })) }
}

function itemOf(operation: Operation): number {
  return (operation as Charge).parts[0]?.cost as number
}

function outcomeOf(answer: number | Error): Outcome {
  return answer instanceof Error
    ? (answer as Outcome)
    : { type: 'charge', allowed: true, atMs: answer, parts: [] }
}

/** Passes the answer of an item to its caller. */
export type Answer = (index: number, answer: number | Error) => void

/** An `apply` that answers the items of a batch. */
export function answering(
  send: (items: readonly number[], answer: Answer) => Promise<Answers>,
): Store['apply'] {
  return async (operations, settle) => {
    const answers = await send(operations.map(itemOf), (i, answer) => settle?.(i, outcomeOf(answer)))
    return answers.map(outcomeOf)
  }
}

/** A batcher that takes numbered items, and resolves with their answers. */
export function itemBatcher(
  apply: Store['apply'],
  batching: Batching,
  keysOf?: (item: number) => readonly string[],
): (item: number) => Promise<number> {
  const batcher = new Batcher(apply, batching)
  return (item) =>
    new Promise((resolve, reject) => {
      batcher.send({
        operation: chargeOf(item, keysOf?.(item)),
        settle(outcome) {
          if ('atMs' in outcome) resolve(outcome.atMs)
          else reject(outcome)
        },
      })
    })
}

/** An `apply` whose batches a test answers. */
export function heldBack() {
  const batches: (readonly number[])[] = []
  const pending: { answer(answers?: Answers): void; fail(reason: unknown): void }[] = []
  const apply = answering(
    (items) =>
      new Promise((resolve, reject) => {
        batches.push(items)
        pending.push({ answer: (answers = items) => resolve(answers), fail: reject })
      }),
  )
  const at = (i: number) => {
    const found = pending[i]
    if (found === undefined) throw new Error(`batch ${i} was not sent`)
    return found
  }
  return { apply, batches, at }
}
