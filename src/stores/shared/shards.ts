import { groupBy } from '../../util/group-by.js'
import {
  type Charge,
  type ChargeResult,
  isResultOf,
  type Operation,
  type Part,
  type PartResult,
  type Refund,
  type ResultOf,
} from '../operation.js'
import type { Batching } from '../store.js'
import { Batcher } from './batcher.js'
import { refundsOf, warnRefundFailed } from './refunds.js'
import { type Run, type RunGroup, runGroups } from './run-operations.js'

/** The shards of a store. A charge whose keys share a shard can be decided all or nothing. */
interface Shards {
  shardOf(key: string): unknown
  /** The time of a charge that has no keys. */
  now(): number
  /** Applies an operation whose keys share a shard. */
  apply<O extends Operation>(operation: O): Promise<ResultOf<O>>
}

/**
 * Returns a function that runs operations, including charges whose keys live in several shards. `run` takes
 * operations that each have all their keys in one shard. The pieces of cross-shard charges go to it in
 * batches. A cross-shard charge runs beside the rest of its batch, not in order with it. In order, it would
 * wait for the round trips of every earlier charge that shares a key.
 */
export function acrossShards(
  shardOf: Shards['shardOf'],
  run: Run,
  batching: Batching,
  now: Shards['now'] = Date.now,
): Run {
  const batcher = new Batcher(run, batching)
  const apply: Shards['apply'] = (operation) =>
    new Promise((resolve, reject) => {
      batcher.submit({
        operation,
        settle(outcome) {
          if (isResultOf(operation, outcome)) resolve(outcome)
          else reject(outcome)
        },
      })
    })
  const decide = (charge: Charge) => chargeAcrossShards(charge, { shardOf, now, apply })

  return function runAcrossShards(operations, settle) {
    const groups: RunGroup[] = []
    const inOneShard: number[] = []
    for (let i = 0; i < operations.length; i++) {
      const operation = operations[i]
      if (operation?.type === 'charge' && operation.parts.length !== 1 && isCrossShard(operation, shardOf))
        groups.push({ indexes: [i], run: async () => [await decide(operation).catch((error) => error)] })
      else inOneShard.push(i)
    }
    if (groups.length === 0) return run(operations, settle)
    if (inOneShard.length > 0) groups.push({ indexes: inOneShard, run })
    return runGroups(operations, groups, settle)
  }
}

/** Returns whether the keys of a charge live in several shards, or it has none. */
function isCrossShard({ parts }: Charge, shardOf: Shards['shardOf']): boolean {
  return new Set(parts.map(({ key }) => shardOf(key))).size !== 1
}

/**
 * Decides a charge whose keys live in several shards. It charges one shard after the other, in the order of
 * the parts, all or nothing in each. If a shard denies or fails, it refunds what was taken before.
 *
 * So no more than a limit is ever admitted. But a charge in progress may hold units that it refunds later,
 * and other charges may be denied meanwhile. So such denials are tentative. If a refund fails, its units
 * stay taken.
 */
async function chargeAcrossShards({ parts: charged }: Charge, shards: Shards): Promise<ChargeResult> {
  const { shardOf } = shards
  const pieces = groupBy(charged, ({ key }) => shardOf(key))
  const figures = new Map<unknown, Iterator<PartResult, undefined>>() // of each shard, in order
  const taken: Refund[] = []
  const inOrder = () => charged.flatMap(({ key }) => figures.get(shardOf(key))?.next().value ?? [])
  let takenAtMs: number | undefined
  for (const [shard, piece] of pieces) {
    const verdict = await shards.apply<Charge>({ type: 'charge', parts: piece }).catch(async (error) => {
      await refundTaken(taken, shards)
      throw error
    })
    const { allowed, atMs, parts } = verdict
    if (!allowed) {
      await refundTaken(taken, shards)
      pieces.delete(shard)
      const peekAt = async ([other, rest]: [unknown, readonly Part[]]) =>
        figures.set(other, (await peek(rest, shards)).values())
      await Promise.all(Array.from(pieces, peekAt))
      figures.set(shard, parts.values())
      return { ...verdict, isTentative: true, parts: inOrder() }
    }
    takenAtMs ??= atMs
    // A window may end between two shards, so each part carries its own time.
    figures.set(shard, parts.map((part) => ({ ...part, atMs })).values())
    taken.push(...refundsOf(piece, verdict))
  }
  return { type: 'charge', allowed: true, atMs: takenAtMs ?? shards.now(), parts: inOrder() }
}

async function refundTaken(taken: readonly Refund[], { apply }: Shards): Promise<void> {
  for (const refunded of await Promise.allSettled(taken.map(apply<Refund>)))
    if (refunded.status === 'rejected') warnRefundFailed(refunded.reason)
}

/** Returns the figures of parts that were not charged, or those of fresh keys if the shard fails. */
async function peek(charged: readonly Part[], { apply }: Shards): Promise<readonly PartResult[]> {
  try {
    const peeked = charged.map((part) => ({ ...part, cost: 0 }))
    const { atMs, parts } = await apply<Charge>({ type: 'charge', parts: peeked })
    return parts.map((figures, i) => ({ ...withCost(charged[i], figures), atMs }))
  } catch {
    return charged.map(({ policy }) => policy.take(undefined, 0, 0))
  }
}

/** Returns a peek's figures for the cost that was not charged. `retryAfterMs` may be a lower bound. */
function withCost(part: Part | undefined, figures: PartResult): PartResult {
  if (part === undefined || part.cost <= figures.remaining) return figures
  const retryAfterMs = part.cost > part.policy.limit ? Number.POSITIVE_INFINITY : figures.moreAfterMs
  return { ...figures, allowed: false, retryAfterMs }
}
