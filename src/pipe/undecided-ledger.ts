import type { Part, PartResult } from '../stores/operation.js'
import type { Store } from '../stores/store.js'
import { weakMemo } from '../util/memo.js'
import { processWide } from '../util/process-wide.js'
import { RecentMap } from '../util/recent-map.js'

/** The units of at least this many keys are known, and of at most twice as many. */
const MIN_KEYS = 16_384

/** Units that this process took for a request whose outcome it does not know yet. */
export interface UndecidedUnits {
  readonly cost: number
  /** Whether a mark in the store shows them to other processes. It may expire before the request ends. */
  isMarked: boolean
  /**
   * Until when they are in use at most, by the store's clock. `undefined` while the store has not decided.
   */
  untilMs: number | undefined
}

/** The undecided units of this process in a store. */
export interface UndecidedLedger {
  /** Returns how many units of a key have no mark. */
  unmarkedOf(key: string): number
  /** Adds the units of a part that is about to be charged. */
  add(part: Part, isMarked: boolean): UndecidedUnits
  /** Records that the store took the units of a part. */
  recordTaken(key: string, unit: UndecidedUnits, figures: PartResult, atMs: number): void
  /** Records that units have a mark now. */
  recordMark(key: string, unit: UndecidedUnits): void
  delete(key: string, unit: UndecidedUnits): void
  /** Deletes all units of a key. */
  forget(key: string): void
  /**
   * Returns how many units of a key are undecided: those of this process, and `marked` ones, which may be
   * its own or those of others.
   */
  undecidedAt(key: string, marked: number, nowMs: number): number
}

/**
 * Returns the undecided units of this process in a store. Limiters that share keys there also share them.
 */
export const undecidedLedgerOf = processWide('undecidedLedgers', () =>
  weakMemo((_store: Store) => undecidedLedger()),
)

/** The units of a key, the oldest first, and their sums, since many requests may be undecided at once. */
interface KeyUnits {
  readonly units: Set<UndecidedUnits>
  /** Those without a mark. */
  unmarked: number
  /** Those that the store has taken. */
  takenMarked: number
  takenUnmarked: number
}

function undecidedLedger(): UndecidedLedger {
  const byKey = new RecentMap<KeyUnits>(MIN_KEYS)

  /** Adds units to the sums of their key, or subtracts them. */
  function count(sums: KeyUnits, { cost, isMarked, untilMs }: UndecidedUnits, sign: 1 | -1): void {
    if (!isMarked) sums.unmarked += sign * cost
    if (untilMs === undefined) return
    if (isMarked) sums.takenMarked += sign * cost
    else sums.takenUnmarked += sign * cost
  }

  function remove(key: string, unit: UndecidedUnits): void {
    const ofKey = byKey.get(key)
    if (ofKey?.units.delete(unit) !== true) return
    count(ofKey, unit, -1)
    if (ofKey.units.size === 0) byKey.delete(key)
  }

  /** Changes units whose sums are counted. */
  function change(key: string, unit: UndecidedUnits, changes: Partial<UndecidedUnits>): void {
    const ofKey = byKey.get(key)
    const isTracked = ofKey?.units.has(unit) === true
    if (isTracked) count(ofKey, unit, -1)
    Object.assign(unit, changes)
    if (isTracked) count(ofKey, unit, 1)
  }

  /** Removes units that are in use no more, although their requests go on. */
  function removeExpired(key: string, nowMs: number): void {
    for (const oldest of byKey.get(key)?.units ?? []) {
      if (oldest.untilMs === undefined || oldest.untilMs > nowMs) return
      remove(key, oldest)
    }
  }

  return {
    unmarkedOf: (key) => byKey.get(key)?.unmarked ?? 0,
    add({ key, cost }, isMarked) {
      const unit: UndecidedUnits = { cost, isMarked, untilMs: undefined }
      const ofKey = byKey.get(key) ?? { units: new Set(), unmarked: 0, takenMarked: 0, takenUnmarked: 0 }
      ofKey.units.add(unit)
      count(ofKey, unit, 1)
      byKey.set(key, ofKey)
      return unit
    },
    recordTaken(key, unit, { unitsAfterMs, resetAfterMs }, atMs) {
      change(key, unit, { untilMs: atMs + (unitsAfterMs ?? resetAfterMs) })
      removeExpired(key, atMs)
    },
    recordMark: (key, unit) => change(key, unit, { isMarked: true }),
    delete: remove,
    forget: (key) => byKey.delete(key),
    undecidedAt(key, marked, nowMs) {
      removeExpired(key, nowMs)
      const { takenMarked = 0, takenUnmarked = 0 } = byKey.get(key) ?? {}
      return takenUnmarked + Math.max(takenMarked, marked) // a mark may have expired
    },
  }
}
