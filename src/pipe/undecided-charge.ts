import type { Cause } from '../policies/judge-denials.js'
import type { Policy } from '../policies/policy.js'
import {
  type Charge,
  type ChargeResult,
  type Part,
  type Refund,
  uncountedParts,
} from '../stores/operation.js'
import type { UndecidedLedger, UndecidedUnits } from './undecided-ledger.js'
import { causeOf, markedUnits } from './undecided-units.js'

/** The undecided units of a part. A mark in the store shows them to other processes, if those must know. */
interface UndecidedPart {
  readonly unit: UndecidedUnits
  mark?: Part | undefined
}

/** A charge whose units are undecided at first. */
export interface UndecidedCharge {
  readonly parts: readonly Part[]
  /** The undecided units of each part; `undefined` for a part whose units cannot be undecided. */
  readonly undecidedParts: readonly (UndecidedPart | undefined)[]
  /** What is sent: the parts, then their marks. */
  readonly sent: Charge
}

/** How a store that other processes use shows them which units are undecided. */
export interface UndecidedMarks {
  /** Returns the part that marks the units of a part. */
  markOf(part: Part): Part
  /**
   * Returns whether units of a part that is about to be charged need a mark, besides `unmarked` other units.
   */
  isNeeded(part: Part, unmarked: number): boolean
  /**
   * Marks the units of an allowed charge if much of their limit is now in use. Returns the marks to send.
   */
  markUsedLimits(charge: UndecidedCharge, result: ChargeResult, ledger: UndecidedLedger): readonly Part[]
  /**
   * Returns whether marks may still show that only undecided units denied a charge: marks that the charge
   * did not read, or that another process was about to send.
   */
  mayExcuse(charge: UndecidedCharge, result: ChargeResult, causes: readonly (Cause | undefined)[]): boolean
  /** Returns how many undecided units of a limit all processes together may leave unmarked. */
  mostUnmarked(policy: Policy): number
}

/**
 * Creates a charge of parts, with marks for the units that need them, or for all units if `isMarked`. There
 * are no `marks` if no other process uses the store. `charged` has the same parts with the policies to
 * charge. By default, their bans count no denial.
 */
export function undecidedCharge(
  parts: readonly Part[],
  ledger: UndecidedLedger,
  marks: UndecidedMarks | undefined,
  { charged = uncountedParts(parts), isMarked = false } = {},
): UndecidedCharge {
  const undecidedParts = parts.map((part): UndecidedPart | undefined => {
    if (part.cost === 0 || part.policy.holdsUnits) return undefined
    const isNeeded = isMarked || marks?.isNeeded(part, ledger.unmarkedOf(part.key))
    const mark = isNeeded ? marks?.markOf(part) : undefined
    return { unit: ledger.add(part, mark !== undefined), mark }
  })
  const sentMarks = undecidedParts.flatMap((undecidedPart) => undecidedPart?.mark ?? [])
  return {
    parts,
    undecidedParts,
    sent: { type: 'charge', parts: sentMarks.length > 0 ? [...charged, ...sentMarks] : charged },
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
  { parts, undecidedParts }: UndecidedCharge,
  { parts: figures, atMs }: ChargeResult,
  ledger: UndecidedLedger,
): (Cause | undefined)[] {
  let marks = 0
  return parts.map((part, i) => {
    const own = figures[i]
    const mark = undecidedParts[i]?.mark && figures[parts.length + marks++]
    const undecided = ledger.undecidedAt(part.key, mark ? markedUnits(mark) : 0, own?.atMs ?? atMs)
    return own && causeOf(part, own, undecided)
  })
}

/** Records when the units of an allowed charge were taken. */
export function recordTaken(
  { parts, undecidedParts }: UndecidedCharge,
  { parts: figures, atMs }: ChargeResult,
  ledger: UndecidedLedger,
): void {
  for (const [i, part] of parts.entries()) {
    const [undecidedPart, taken] = [undecidedParts[i], figures[i]]
    if (undecidedPart !== undefined && taken !== undefined)
      ledger.recordTaken(part.key, undecidedPart.unit, taken, taken.atMs ?? atMs)
  }
}

/**
 * Ends the undecided time of the units of a charge. If the charge was allowed, returns the refunds of its
 * marks.
 */
export function endUndecidedParts(
  { parts, undecidedParts }: UndecidedCharge,
  ledger: UndecidedLedger,
  allowed?: ChargeResult,
): readonly Refund[] {
  const refunds: Refund[] = []
  for (const [i, part] of parts.entries()) {
    const undecidedPart = undecidedParts[i]
    if (undecidedPart === undefined) continue
    ledger.delete(part.key, undecidedPart.unit)
    if (undecidedPart.mark === undefined || allowed === undefined) continue
    refunds.push({ type: 'refund', ...undecidedPart.mark, takenAtMs: allowed.parts[i]?.atMs ?? allowed.atMs })
  }
  return refunds
}
