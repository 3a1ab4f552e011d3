import { keysOf, type Operation } from '../stores/operation.js'
import { ADDITIONS_PER_MAP } from '../util/worn-map.js'

interface WaitingItem {
  readonly operation: Operation
}

/** The next batch, and the items that remain. */
export type Picked<Item> = readonly [batch: readonly Item[], rest: Item[]]

/**
 * Creates a picker of batches that lock their keys while they are in flight. `pick` returns the next batch
 * and the remaining items, both in order; `release` unlocks what a batch has locked.
 *
 * An item stays behind if it needs a key that a batch in flight has locked, or that an earlier remaining
 * item needs. So operations on one key keep their order. An item whose keys are all in this batch joins it
 * even beyond `maxItems`, since otherwise it would wait for the batch.
 */
export function lockingPicker<Item extends WaitingItem>(maxKeys: number) {
  let locked = new Set<string>()
  let additions = 0

  function pick(waiting: readonly Item[], maxItems: number): Picked<Item> {
    const batch: Item[] = []
    const rest: Item[] = []
    const batchKeys = new Set<string>()
    const keysOfRest = new Set<string>()
    let weight = 0
    for (const item of waiting) {
      const parts = keysOf(item.operation)
      const isFree = !parts.some(({ key }) => locked.has(key) || keysOfRest.has(key))
      const isCovered = parts.length > 0 && parts.every(({ key }) => batchKeys.has(key))
      const hasRoom = batch.length === 0 || weight + parts.length <= maxKeys
      const canJoin = isFree && hasRoom && (isCovered || batch.length < maxItems)
      if (canJoin) weight += parts.length
      ;(canJoin ? batch : rest).push(item)
      for (const { key } of parts) (canJoin ? batchKeys : keysOfRest).add(key)
    }
    additions += batchKeys.size
    if (additions > ADDITIONS_PER_MAP + locked.size) {
      locked = new Set(locked)
      additions = 0
    }
    for (const key of batchKeys) locked.add(key)
    return [batch, rest]
  }

  function release(batch: readonly Item[]): void {
    for (const { operation } of batch) for (const { key } of keysOf(operation)) locked.delete(key)
  }

  return { pick, release }
}
