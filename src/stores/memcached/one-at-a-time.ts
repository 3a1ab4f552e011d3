/** Who waits for what comes of an item. */
interface Waiting<Item, Answer> {
  readonly item: Item
  readonly resolve: (answer: Answer) => void
  readonly reject: (reason: unknown) => void
}

/**
 * Runs what is wanted of one key one turn after the other, so that a process never races itself: what comes while a turn is on
 * its way goes together in the next one. `run` gives an answer for each item, in order.
 */
export function oneAtATime<Item, Answer>(
  run: (key: string, items: readonly Item[]) => Promise<readonly Answer[]>,
): (key: string, item: Item) => Promise<Answer> {
  const waiting = new Map<string, Waiting<Item, Answer>[]>()

  async function takeTurns(key: string, first: Waiting<Item, Answer>): Promise<void> {
    let turn = [first]
    while (turn.length > 0) {
      await takeTurn(key, turn)
      turn = waiting.get(key) ?? []
      if (turn.length > 0) waiting.set(key, [])
      else waiting.delete(key)
    }
  }

  async function takeTurn(key: string, turn: readonly Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await run(
        key,
        turn.map(({ item }) => item),
      )
      turn.forEach(({ resolve }, i) => {
        resolve(answers[i] as Answer)
      })
    } catch (reason) {
      for (const { reject } of turn) reject(reason)
    }
  }

  return (key, item) =>
    new Promise((resolve, reject) => {
      const one = { item, resolve, reject }
      const others = waiting.get(key)
      if (others !== undefined) {
        others.push(one)
        return
      }
      waiting.set(key, [])
      takeTurns(key, one)
    })
}
