import { groupBy } from '../../util/group-by.js'
import type { Charge, Part, PartVerdict, Refund, Store, Verdict } from '../store.js'
import { refundsOf } from './refunds.js'

/** A store's operations on shards. A charge whose keys share a shard can be decided all or nothing. */
export interface Shards {
  shardOf(key: string): unknown
  charge(charges: readonly Charge[]): Promise<readonly Verdict[]>
  refund: Store['refund']
  /** Reports that units of a denied or failed charge could not be refunded. */
  onRefundFailed(reason: unknown): void
}

/** The parts of a charge for one shard, and their indexes in the charge. */
interface Piece {
  readonly charge: Charge
  readonly indexes: readonly number[]
}

/**
 * Returns a function that decides charges whose keys may live in several shards. It charges one shard after
 * the other, in the order of the parts, all or nothing in each. Where one denies or fails, it refunds what
 * was taken before.
 *
 * So never more than a limit is admitted. But while a charge is under way, it may hold units that it then
 * refunds, and others may be denied for them: such denials are tentative. Units whose refund fails stay
 * taken.
 */
export function crossShardCharge(
  shards: Shards,
): (charges: readonly Charge[]) => Promise<readonly Verdict[]> {
  const underWay = new Map<string, number>() // by key, the number of cross-shard charges that name it

  async function chargeBesideOthers(charges: readonly Charge[]): Promise<readonly Verdict[]> {
    const isContended = charges.map((charge) => charge.some(({ key }) => underWay.has(key)))
    const verdicts = await shards.charge(charges)
    return verdicts.map((verdict, i) =>
      verdict.allowed || !isContended[i] ? verdict : { ...verdict, isTentative: true },
    )
  }

  async function chargeAcross(charge: Charge, pieces: readonly Piece[]): Promise<Verdict> {
    count(charge, 1)
    try {
      return await chargeInTurn(pieces, shards)
    } finally {
      count(charge, -1)
    }
  }

  function count(charge: Charge, change: 1 | -1): void {
    for (const { key } of charge) {
      const charges = (underWay.get(key) ?? 0) + change
      if (charges > 0) underWay.set(key, charges)
      else underWay.delete(key)
    }
  }

  return (charges) => {
    const pieces = charges.map((charge) => piecesOf(charge, shards))
    if (pieces.some(({ length }) => length !== 1))
      return Promise.all(charges.map((charge, i) => chargeAcross(charge, pieces[i] as Piece[])))
    return underWay.size === 0 ? shards.charge(charges) : chargeBesideOthers(charges)
  }
}

function piecesOf(charge: Charge, { shardOf }: Shards): Piece[] {
  if (charge.length === 1) return [{ charge, indexes: [0] }]
  const byShard = groupBy(charge.keys(), (i) => shardOf((charge[i] as Part).key)).values()
  return Array.from(byShard, (indexes) => ({ charge: indexes.map((i) => charge[i] as Part), indexes }))
}

async function chargeInTurn(pieces: readonly Piece[], shards: Shards): Promise<Verdict> {
  const verdicts: Verdict[] = []
  const taken: Refund[] = []
  for (const { charge } of pieces) {
    const [verdict] = (await shards.charge([charge]).catch(async (error) => {
      await refundTaken(taken, shards)
      throw error
    })) as [Verdict]
    if (!verdict.allowed) {
      await refundTaken(taken, shards)
      const figures = pieces.map((piece, i) =>
        i === verdicts.length ? verdict.parts : peek(piece.charge, shards),
      )
      return { ...verdict, isTentative: true, parts: inChargeOrder(pieces, await Promise.all(figures)) }
    }
    verdicts.push(verdict)
    taken.push(...refundsOf(charge, verdict))
  }
  // A window may end between two shards, so each part carries its own time.
  const parts = verdicts.map(({ atMs, parts }) => parts.map((part) => ({ ...part, atMs })))
  return { allowed: true, atMs: verdicts[0]?.atMs ?? 0, parts: inChargeOrder(pieces, parts) }
}

async function refundTaken(taken: readonly Refund[], { refund, onRefundFailed }: Shards): Promise<void> {
  if (taken.length === 0) return
  try {
    await refund(taken)
  } catch (reason) {
    onRefundFailed(reason)
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

function inChargeOrder(
  pieces: readonly Piece[],
  partsOfPieces: readonly (readonly PartVerdict[])[],
): PartVerdict[] {
  const parts: PartVerdict[] = []
  for (const [piece, { indexes }] of pieces.entries())
    for (const [i, index] of indexes.entries()) parts[index] = partsOfPieces[piece]?.[i] as PartVerdict
  return parts
}
