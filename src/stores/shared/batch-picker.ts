type Picked<Item> = readonly [batch: readonly Item[], rest: Item[]]

/**
 * Creates a picker of batches, which lock keys while they are in flight. `pick` returns the next batch,
 * usually of at most `maxItems`, and the remaining items, both in order; `release` unlocks what a batch has
 * locked.
 *
 * Without `lockKeys`, a batch takes items until the next one does not fit. With it, an item stays behind
 * where it needs a key that a batch in flight has locked, or that an earlier remaining item needs: items of
 * one key keep their order. An item all of whose keys this batch locks joins it beyond `maxItems`: it would
 * have to wait for it anyway.
 */
export function batchPicker<Item>(
  maxWeight: number,
  weigh: (item: Item) => number,
  lockKeys?: (item: Item) => readonly string[],
) {
  const locked = new Set<string>()

  function pickFirst(waiting: readonly Item[], maxItems: number): Picked<Item> {
    let weight = 0
    const end = waiting.findIndex((item, i) => {
      weight += weigh(item)
      return i > 0 && (i >= maxItems || weight > maxWeight)
    })
    return end < 0 ? [waiting, []] : [waiting.slice(0, end), waiting.slice(end)]
  }

  function pickUnlocked(
    waiting: readonly Item[],
    maxItems: number,
    keysOf: (item: Item) => readonly string[],
  ): Picked<Item> {
    const batch: Item[] = []
    const rest: Item[] = []
    const ownKeys = new Set<string>()
    const keysOfRest = new Set<string>()
    let weight = 0
    for (const item of waiting) {
      const keys = keysOf(item)
      const isFree = !keys.some((key) => locked.has(key) || keysOfRest.has(key))
      const isOwn = keys.length > 0 && keys.every((key) => ownKeys.has(key))
      const fits = batch.length === 0 || weight + weigh(item) <= maxWeight
      const joins = isFree && fits && (isOwn || batch.length < maxItems)
      if (joins) weight += weigh(item)
      ;(joins ? batch : rest).push(item)
      for (const key of keys) (joins ? ownKeys : keysOfRest).add(key)
    }
    for (const key of ownKeys) locked.add(key)
    return [batch, rest]
  }

  function release(batch: readonly Item[]): void {
    if (lockKeys !== undefined) for (const item of batch) for (const key of lockKeys(item)) locked.delete(key)
  }

  return {
    pick: (waiting: readonly Item[], maxItems: number) =>
      lockKeys ? pickUnlocked(waiting, maxItems, lockKeys) : pickFirst(waiting, maxItems),
    release,
  }
}
