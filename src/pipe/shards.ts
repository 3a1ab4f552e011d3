import type { Charge } from '../stores/operation.js'
import { type Run, type RunGroup, runGroups } from '../stores/shared/run-operations.js'
import type { Batching } from '../stores/store.js'
import { jointCharges, spansShards } from './joint-charges.js'
import { senderTo } from './sender.js'

/**
 * Returns a function that runs operations, including charges whose keys live in several shards. `run` takes
 * operations that each have all their keys in one shard. The pieces of cross-shard charges go to it in
 * batches, or each alone if `batching` is `false`. A cross-shard charge runs beside the rest of its batch,
 * not in order with it. In order, it would wait for the round trips of every earlier charge that shares a
 * key.
 */
export function acrossShards(shardOf: (key: string) => unknown, run: Run, batching: Batching | false): Run {
  const sender = senderTo(run, batching)
  const decide = jointCharges(shardOf, (operation, settle) => sender.send({ operation, settle }), Date.now)
  const decideAlone: Run = ([charge]) =>
    new Promise((resolve) => decide(charge as Charge, (outcome) => resolve([outcome])))

  return function runAcrossShards(operations, settle) {
    const groups: RunGroup[] = []
    const inOneShard: number[] = []
    for (let i = 0; i < operations.length; i++) {
      const operation = operations[i]
      if (operation !== undefined && spansShards(operation, shardOf))
        groups.push({ indexes: [i], run: decideAlone })
      else inOneShard.push(i)
    }
    if (groups.length === 0) return run(operations, settle)
    if (inOneShard.length > 0) groups.push({ indexes: inOneShard, run })
    return runGroups(operations, groups, settle)
  }
}
