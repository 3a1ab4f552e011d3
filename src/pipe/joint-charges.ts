import type { Charge, ChargeResult, Operation, Outcome, Part, PartResult } from '../stores/operation.js'
import { refundsOf, warnRefundFailed } from '../stores/shared/refunds.js'
import { itemsAt } from '../stores/shared/run-operations.js'
import { asUnknown, type StoreError } from '../stores/store-error.js'
import { groupBy } from '../util/group-by.js'

/** Applies an operation whose keys share a shard. Calls `settle` once, later. Never throws. */
export type ApplyInShard = (operation: Operation, settle: (outcome: Outcome) => void) => void

/** Returns whether an operation is a charge whose keys live in several shards, or that has no keys. */
export function spansShards(operation: Operation, shardOf: (key: string) => unknown): operation is Charge {
  if (operation.type !== 'charge' || operation.parts.length === 1) return false
  const [shard, ...others] = operation.parts.map(({ key }) => shardOf(key))
  return operation.parts.length === 0 || others.some((other) => other !== shard)
}

/** The parts of a charge in one shard. */
interface Piece {
  readonly charge: Charge
  /** Where the parts are among those of the whole charge. */
  readonly indexes: readonly number[]
  result?: ChargeResult
  error?: StoreError
}

/**
 * Returns a function that decides charges whose keys live in several shards. It charges one shard after the
 * other, in the order of the parts, all or nothing in each. If a shard denies or fails, it refunds what was taken
 * before. All at once would be faster, but then a client that bursts over its own limit holds units of a
 * shared one until they are refunded, and others are denied for them. `applyFirst` applies the first piece.
 *
 * So no more than a limit is ever admitted. But a charge in progress may hold units that it refunds later,
 * and other charges may be denied meanwhile. So such denials are tentative. If a refund fails, its units
 * stay taken.
 */
export function jointCharges(shardOf: (key: string) => unknown, apply: ApplyInShard, now: () => number) {
  return function decide(
    { parts }: Charge,
    settle: (outcome: ChargeResult | StoreError) => void,
    applyFirst = apply,
  ): void {
    const pieces = piecesOf(parts, shardOf)
    const chargeFrom = (index: number, applyPiece: ApplyInShard): void => {
      const piece = pieces[index]
      if (piece === undefined) {
        settle(joinedResult(pieces, pieces[0]?.result?.atMs ?? now()))
        return
      }
      applyPiece(piece.charge, (outcome) => {
        if (outcome instanceof Error) piece.error = outcome
        else piece.result = outcome as ChargeResult
        if (isAllowed(piece)) chargeFrom(index + 1, apply)
        else takeBack(pieces, apply).then(settle)
      })
    }
    chargeFrom(0, applyFirst)
  }
}

function piecesOf(parts: readonly Part[], shardOf: (key: string) => unknown): Piece[] {
  const pieces: Piece[] = []
  for (const indexes of groupBy(parts.keys(), (i) => shardOf(parts[i]?.key ?? '')).values())
    pieces.push({ charge: { type: 'charge', parts: itemsAt(parts, indexes) }, indexes })
  return pieces
}

const isAllowed = ({ result }: Piece) => result?.allowed === true
const isDenied = ({ result }: Piece) => result?.allowed === false

/** Returns the result of a charge from those of its pieces. Parts of another time than `atMs` carry it. */
function joinedResult(pieces: readonly Piece[], atMs: number): ChargeResult {
  const parts: PartResult[] = []
  for (const { indexes, result } of pieces) {
    let i = 0
    for (const figures of result?.parts ?? [])
      parts[indexes[i++] ?? 0] = result?.atMs === atMs ? figures : { ...figures, atMs: result?.atMs ?? atMs }
  }
  return { type: 'charge', allowed: pieces.every(isAllowed), atMs, parts }
}

/**
 * Refunds the pieces that were allowed. Returns the denial, in which pieces that did not deny have the
 * figures of a peek. If no piece denied, returns the error. It says that nothing has changed only if that is so.
 */
async function takeBack(pieces: readonly Piece[], apply: ApplyInShard): Promise<ChargeResult | StoreError> {
  const request = (operation: Operation) => new Promise<Outcome>((resolve) => apply(operation, resolve))
  const refunds = pieces.flatMap(({ charge, result }) =>
    result?.allowed ? refundsOf(charge.parts, result) : [],
  )
  const failures = (await Promise.all(refunds.map(request))).filter((outcome) => outcome instanceof Error)
  for (const failure of failures) warnRefundFailed(failure)
  const { atMs } = pieces.find(isDenied)?.result ?? {}
  if (atMs === undefined) {
    const error = pieces.find((piece) => piece.error !== undefined)?.error as StoreError
    return failures.length === 0 ? error : asUnknown(error)
  }
  const peek = async (piece: Piece) => {
    const { charge } = piece
    const peeked = charge.parts.map((part) => ({ ...part, cost: 0 }))
    const outcome = await request({ type: 'charge', parts: peeked })
    piece.result =
      outcome instanceof Error ? freshResult(charge, atMs) : withCosts(charge, outcome as ChargeResult)
  }
  await Promise.all(pieces.filter((piece) => !isDenied(piece)).map(peek))
  return { ...joinedResult(pieces, atMs), allowed: false, isTentative: true }
}

/** Returns a peek's figures for the costs that were not charged. `retryAfterMs` may be a lower bound. */
function withCosts({ parts }: Charge, peeked: ChargeResult): ChargeResult {
  const figuresOf = (figures: PartResult, i: number) => {
    const { cost = 0, policy } = parts[i] ?? {}
    if (policy === undefined || cost <= figures.remaining) return figures
    const retryAfterMs = cost > policy.limit ? Number.POSITIVE_INFINITY : figures.moreAfterMs
    return { ...figures, allowed: false, retryAfterMs }
  }
  return { ...peeked, parts: peeked.parts.map(figuresOf) }
}

/** Returns the figures of fresh keys, for a shard that fails. */
function freshResult({ parts }: Charge, atMs: number): ChargeResult {
  return {
    type: 'charge',
    allowed: true,
    atMs,
    parts: parts.map(({ policy }) => policy.take(undefined, 0, 0)),
  }
}
