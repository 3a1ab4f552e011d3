import {
  type Charge,
  type ChargeResult,
  type Part,
  type Refund,
  uncountedParts,
} from '../stores/operation.js'
import { type Cause, causeOf, markedUnits, markOf, mayBeUndecided } from './undecided-units.js'
import { mostUnmarked, type UnmarkedUnit, type UnmarkedUnits, undecidedAt } from './unmarked-units.js'

/** How the units of a part are known to be undecided: by a mark in the store, or by this process alone. */
interface Hold {
  mark?: Part
  unit?: UnmarkedUnit | undefined
  /** The other unmarked units of the key when the charge was sent. */
  readonly others: Iterable<UnmarkedUnit>
}

/** A charge whose units are undecided at first. */
export interface UndecidedCharge {
  readonly parts: readonly Part[]
  /** How each part is held. */
  readonly holds: readonly Hold[]
  /** What is sent: the parts, then their marks. */
  readonly sent: Charge
}

/**
 * Creates a charge of parts, with marks for the units that need them, or for all units if `isMarked`.
 * `charged` has the same parts with the policies to charge. By default, their bans count no denial.
 */
export function undecidedCharge(
  parts: readonly Part[],
  unmarked: UnmarkedUnits,
  { charged = uncountedParts(parts), isMarked = false } = {},
): UndecidedCharge {
  const holds = parts.map((part): Hold => {
    const units = unmarked.of(part.key)
    const others = unmarked.isAlone ? units : [...units] // some may end before the outcome arrives
    if (part.cost === 0 || part.policy.holdsUnits) return { others }
    const unit = isMarked && !unmarked.isAlone ? undefined : unmarked.add(part)
    return unit === undefined ? { others, mark: markOf(part) } : { others, unit }
  })
  const marks = holds.flatMap(({ mark }) => mark ?? [])
  return {
    parts,
    holds,
    sent: { type: 'charge', parts: marks.length > 0 ? [...charged, ...marks] : charged },
  }
}

/** Returns a result without the marks, which follow the parts. */
export function withoutMarks({ parts, sent }: UndecidedCharge, result: ChargeResult): ChargeResult {
  return sent.parts.length === parts.length
    ? result
    : { ...result, parts: result.parts.slice(0, parts.length) }
}

/** Returns why each part was denied; `undefined` for one that did not deny. */
export function causesOf(
  { parts, holds }: UndecidedCharge,
  { parts: figures, atMs }: ChargeResult,
): (Cause | undefined)[] {
  let marks = 0
  return holds.map(({ mark, others }, i) => {
    const own = figures[i]
    const markFigures = mark && figures[parts.length + marks++]
    const marked = markFigures === undefined ? 0 : markedUnits(markFigures)
    return own && causeOf(parts[i] as Part, own, marked + undecidedAt(others, own.atMs ?? atMs))
  })
}

/**
 * Returns whether marks may still show that only undecided units denied a charge: marks that the charge did
 * not read, or that another process was about to send.
 */
export function mayBeExcused(charge: UndecidedCharge, result: ChargeResult): boolean {
  const causes = causesOf(charge, result)
  return charge.parts.some((part, i) => {
    const figures = result.parts[i]
    return causes[i] !== 'undecided' && figures !== undefined && mayBeUndecided(part, figures)
  })
}

/** Records when the units of an allowed charge were taken. */
export function recordTaken(
  { parts, holds }: UndecidedCharge,
  { parts: figures, atMs }: ChargeResult,
  unmarked: UnmarkedUnits,
): void {
  for (const [i, { unit }] of holds.entries())
    if (unit !== undefined) unmarked.recordTaken(parts[i] as Part, unit, figures[i]?.atMs ?? atMs)
}

/** Returns the marks that an allowed charge needs now that so much of a limit is in use. */
export function markUsedLimits(
  { parts, holds }: UndecidedCharge,
  { parts: figures }: ChargeResult,
  unmarked: UnmarkedUnits,
): readonly Part[] {
  if (unmarked.isAlone) return []
  const marks: Part[] = []
  for (const [i, part] of parts.entries()) {
    const hold = holds[i]
    const { remaining = 0 } = figures[i] ?? {}
    if (hold?.unit === undefined || part.policy.limit - remaining <= mostUnmarked(part.policy)) continue
    unmarked.delete(part.key, hold.unit)
    hold.unit = undefined
    hold.mark = markOf(part)
    marks.push(hold.mark)
  }
  return marks
}

/**
 * Ends the undecided time of the units of a charge. If the charge was allowed, returns the refunds of its
 * marks.
 */
export function endHolds(
  { parts, holds }: UndecidedCharge,
  unmarked: UnmarkedUnits,
  allowed?: ChargeResult,
): readonly Refund[] {
  const refunds: Refund[] = []
  for (const [i, { mark, unit }] of holds.entries()) {
    if (unit !== undefined) unmarked.delete((parts[i] as Part).key, unit)
    if (mark === undefined || allowed === undefined) continue
    refunds.push({ type: 'refund', ...mark, takenAtMs: allowed.parts[i]?.atMs ?? allowed.atMs })
  }
  return refunds
}
