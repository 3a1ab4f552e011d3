import { keysOf, type Operation } from '../operation.js'

interface WaitingItem {
  readonly operation: Operation
}

/** The next batch, and the items that remain. */
export type Picked<Item> = readonly [batch: readonly Item[], rest: Item[]]

/**
 * Creates a picker of batches that lock their keys while they are in flight. `pick` returns the next batch
 * and the remaining items, both in order; `release` unlocks what a batch has locked.
 *
 * An item stays behind where it needs a key that a batch in flight has locked, or that an earlier remaining
 * item needs: items of one key keep their order. An item all of whose keys this batch locks joins it beyond
 * `maxItems`: it would have to wait for it anyway.
 */
export function lockingPicker<Item extends WaitingItem>(maxKeys: number) {
  const locked = new Set<string>()

  function pick(waiting: readonly Item[], maxItems: number): Picked<Item> {
    const batch: Item[] = []
    const rest: Item[] = []
    const ownKeys = new Set<string>()
    const keysOfRest = new Set<string>()
    let weight = 0
    for (const item of waiting) {
      const parts = keysOf(item.operation)
      const isFree = !parts.some(({ key }) => locked.has(key) || keysOfRest.has(key))
      const isOwn = parts.length > 0 && parts.every(({ key }) => ownKeys.has(key))
      const fits = batch.length === 0 || weight + parts.length <= maxKeys
      const joins = isFree && fits && (isOwn || batch.length < maxItems)
      if (joins) weight += parts.length
      ;(joins ? batch : rest).push(item)
      for (const { key } of parts) (joins ? ownKeys : keysOfRest).add(key)
    }
    for (const key of ownKeys) locked.add(key)
    return [batch, rest]
  }

  function release(batch: readonly Item[]): void {
    for (const { operation } of batch) for (const { key } of keysOf(operation)) locked.delete(key)
  }

  return { pick, release }
}
