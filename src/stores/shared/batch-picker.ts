/** What goes together. */
export interface PickOptions<Item> {
  /** The most weight that goes together. A single item that weighs more goes alone. */
  readonly maxWeight: number
  readonly weigh: (item: Item) => number
  /** What an item has to itself while it is decided; nothing where items never stand in each other's way. */
  readonly holds?: ((item: Item) => readonly string[]) | undefined
}

/** Picks what goes together next, in order, and remembers what is held by what is on its way. */
export interface Picker<Item> {
  /** So many items at most, and those that stay behind. */
  pick(waiting: readonly Item[], most: number): [batch: Item[], rest: Item[]]
  /** To be called when a batch is done. */
  release(batch: readonly Item[]): void
}

export function picker<Item>({ maxWeight, weigh, holds }: PickOptions<Item>): Picker<Item> {
  return holds === undefined ? first(maxWeight, weigh) : free(maxWeight, weigh, holds)
}

/** Takes the first ones. */
function first<Item>(maxWeight: number, weigh: (item: Item) => number): Picker<Item> {
  return {
    pick(waiting, most) {
      let weight = 0
      let to = 0
      while (to < waiting.length && to < most) {
        weight += weigh(waiting[to] as Item)
        if (weight > maxWeight && to > 0) break
        to++
      }
      return [waiting.slice(0, to), waiting.slice(to)]
    },
    release() {},
  }
}

/** Takes the first ones that need nothing which another batch holds, or which an item needs that stays behind before them. */
function free<Item>(
  maxWeight: number,
  weigh: (item: Item) => number,
  holds: (item: Item) => readonly string[],
): Picker<Item> {
  const held = new Set<string>()
  return {
    pick(waiting, most) {
      const batch: Item[] = []
      const rest: Item[] = []
      const own = new Set<string>()
      const awaited = new Set<string>()
      let weight = 0
      for (const item of waiting) {
        const needs = holds(item)
        const isFree = !needs.some((name) => held.has(name) || awaited.has(name))
        const isWelcome = batch.length < most || needs.every((name) => own.has(name)) // it would have to wait for this batch
        if (isFree && isWelcome && (batch.length === 0 || weight + weigh(item) <= maxWeight)) {
          batch.push(item)
          weight += weigh(item)
          for (const name of needs) own.add(name)
        } else {
          rest.push(item)
          for (const name of needs) awaited.add(name)
        }
      }
      for (const name of own) held.add(name)
      return [batch, rest]
    },
    release(batch) {
      for (const item of batch) for (const name of holds(item)) held.delete(name)
    },
  }
}
