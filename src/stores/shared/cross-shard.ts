import { groupBy } from '../../util/group-by.js'
import type { Charge, Part, PartVerdict, Refund, Store, Verdict } from '../store.js'
import { refundsOf, warnRefundFailed } from './refunds.js'

/** A store's operations on shards. A charge whose keys share a shard can be decided all or nothing. */
export interface Shards {
  shardOf(key: string): unknown
  charge(charges: readonly Charge[]): Promise<readonly Verdict[]>
  refund: Store['refund']
}

/**
 * Returns a function that decides charges whose keys may live in several shards. It charges one shard after
 * the other, in the order of the parts, all or nothing in each. Where one denies or fails, it refunds what
 * was taken before.
 *
 * So no more than a limit is ever admitted. But a charge in progress may hold units that it refunds later,
 * and others may be denied meanwhile: its denials are tentative. If a refund fails, its units stay taken.
 */
export function crossShardCharge(
  shards: Shards,
): (charges: readonly Charge[]) => Promise<readonly Verdict[]> {
  const isCrossShard = (charge: Charge) =>
    charge.length !== 1 && new Set(charge.map(({ key }) => shards.shardOf(key))).size !== 1

  return (charges) => {
    if (!charges.some(isCrossShard)) return shards.charge(charges)
    return Promise.all(charges.map((charge) => chargeInTurn(charge, shards)))
  }
}

async function chargeInTurn(charge: Charge, shards: Shards): Promise<Verdict> {
  const { shardOf } = shards
  const pieces = groupBy(charge, ({ key }) => shardOf(key))
  const figures = new Map<unknown, Iterator<PartVerdict>>() // of each shard, in order
  const taken: Refund[] = []
  const inChargeOrder = () => charge.map(({ key }) => figures.get(shardOf(key))?.next().value as PartVerdict)
  let takenAtMs: number | undefined
  for (const [shard, piece] of pieces) {
    const [verdict] = (await shards.charge([piece]).catch(async (error) => {
      await refundTaken(taken, shards)
      throw error
    })) as [Verdict]
    const { allowed, atMs, parts } = verdict
    if (!allowed) {
      await refundTaken(taken, shards)
      pieces.delete(shard)
      const peekAt = async ([other, rest]: [unknown, Charge]) =>
        figures.set(other, (await peek(rest, shards)).values())
      await Promise.all(Array.from(pieces, peekAt))
      figures.set(shard, parts.values())
      return { ...verdict, isTentative: true, parts: inChargeOrder() }
    }
    takenAtMs ??= atMs
    // A window may end between two shards, so each part carries its own time.
    figures.set(shard, parts.map((part) => ({ ...part, atMs })).values())
    taken.push(...refundsOf(piece, verdict))
  }
  return { allowed: true, atMs: takenAtMs ?? 0, parts: inChargeOrder() }
}

async function refundTaken(taken: readonly Refund[], { refund }: Shards): Promise<void> {
  if (taken.length === 0) return
  try {
    await refund(taken)
  } catch (reason) {
    warnRefundFailed(reason)
  }
}

/** Returns the figures of parts that were not charged; those of fresh keys where the shard fails. */
async function peek(charge: Charge, shards: Shards): Promise<readonly PartVerdict[]> {
  try {
    const [verdict] = (await shards.charge([charge.map((part) => ({ ...part, cost: 0 }))])) as [Verdict]
    return verdict.parts.map((figures, i) => withCost(charge[i] as Part, figures))
  } catch {
    return charge.map(({ policy }) => policy.take(undefined, 0, 0))
  }
}

/** Returns a peek's figures for the cost that was not charged. `retryAfterMs` may be a lower bound. */
function withCost({ policy, cost }: Part, figures: PartVerdict): PartVerdict {
  if (cost <= figures.remaining) return figures
  const retryAfterMs = cost > policy.limit ? Number.POSITIVE_INFINITY : figures.moreAfterMs
  return { ...figures, allowed: false, retryAfterMs }
}
