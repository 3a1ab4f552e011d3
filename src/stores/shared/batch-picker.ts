/** Picks batches, and tracks what those in flight have locked. */
export interface BatchPicker<Item> {
  /** Returns the next batch, usually of at most `maxItems`, and the remaining items, both in order. */
  pick(waiting: readonly Item[], maxItems: number): [batch: Item[], rest: Item[]]
  /** Unlocks what a batch has locked. */
  release(batch: readonly Item[]): void
}

/** Creates a picker of batches for items that never conflict. */
export function inOrderPicker<Item>(maxWeight: number, weigh: (item: Item) => number): BatchPicker<Item> {
  return {
    pick(waiting, maxItems) {
      let weight = 0
      let end = 0
      while (end < waiting.length && end < maxItems) {
        weight += weigh(waiting[end] as Item)
        if (weight > maxWeight && end > 0) break
        end++
      }
      return [waiting.slice(0, end), waiting.slice(end)]
    },
    release() {},
  }
}

/**
 * Creates a picker of batches that lock keys while in flight. An item stays behind where it needs a key that
 * a batch in flight has locked, or that an earlier remaining item needs: items of one key keep their order.
 * An item all of whose keys this batch locks joins it beyond `maxItems`: it would have to wait for it anyway.
 */
export function lockingPicker<Item>(
  maxWeight: number,
  weigh: (item: Item) => number,
  lockKeys: (item: Item) => readonly string[],
): BatchPicker<Item> {
  const locked = new Set<string>()
  return {
    pick(waiting, maxItems) {
      const batch: Item[] = []
      const rest: Item[] = []
      const ownKeys = new Set<string>()
      const keysOfRest = new Set<string>()
      let weight = 0
      for (const item of waiting) {
        const keys = lockKeys(item)
        const isFree = !keys.some((key) => locked.has(key) || keysOfRest.has(key))
        const isDue = batch.length < maxItems || keys.every((key) => ownKeys.has(key))
        const fits = batch.length === 0 || weight + weigh(item) <= maxWeight
        const joins = isFree && isDue && fits
        if (joins) weight += weigh(item)
        ;(joins ? batch : rest).push(item)
        for (const key of keys) (joins ? ownKeys : keysOfRest).add(key)
      }
      for (const key of ownKeys) locked.add(key)
      return [batch, rest]
    },
    release(batch) {
      for (const item of batch) for (const key of lockKeys(item)) locked.delete(key)
    },
  }
}
