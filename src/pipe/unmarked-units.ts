import type { Policy } from '../policies/policy.js'
import type { Part } from '../stores/operation.js'
import { localStatesOf } from '../stores/shared/local-states.js'
import type { Store } from '../stores/store.js'
import { weakMemo } from '../util/memo.js'
import { processWide } from '../util/process-wide.js'
import { RecentMap } from '../util/recent-map.js'
import { undecidedMsOf } from './undecided-units.js'

/** How much of a limit may stay unmarked in a store that other processes may use. */
const UNMARKED_SHARE = 1 / 8
/** The smallest limit with unmarked units there. In smaller ones, as for a login, each unit matters. */
const LEAST_LIMIT = 16
/** The units of at least this many keys are remembered, and of at most twice as many. */
const MIN_KEYS = 16_384

/** Undecided units that only this process knows of. */
export interface UnmarkedUnit {
  readonly cost: number
  /** Until when they are undecided at most, by the store's clock. 0 until the store has decided. */
  untilMs: number
}

/** The undecided units in a store that this process took and remembers, but has not marked there. */
export interface UnmarkedUnits {
  /** Whether no other process uses the store, so that marks are never needed. */
  readonly isAlone: boolean
  /** Adds the units of a part that is about to be charged. Returns `undefined` if they need a mark. */
  add(part: Part): UnmarkedUnit | undefined
  /** Records when the store took the units of a part. */
  recordTaken(part: Part, unit: UnmarkedUnit, atMs: number): void
  delete(key: string, unit: UnmarkedUnit): void
  /** Deletes all units of a key. */
  forget(key: string): void
  of(key: string): Iterable<UnmarkedUnit>
}

/** Returns the unmarked units in a store. Limiters that share keys in the store also share them. */
export const unmarkedUnitsOf = processWide('unmarkedUnits', () =>
  weakMemo((store: Store) => unmarkedUnits(localStatesOf(store) !== undefined)),
)

function unmarkedUnits(isAlone: boolean): UnmarkedUnits {
  const byKey = new RecentMap<Set<UnmarkedUnit>>(MIN_KEYS)

  return {
    isAlone,
    add({ key, policy, cost }) {
      const units = byKey.get(key)
      const hasRoom = isAlone || sumOf(units ?? []) + cost <= mostUnmarked(policy)
      if (!hasRoom) return undefined
      const unit = { cost, untilMs: 0 }
      if (units === undefined) byKey.set(key, new Set([unit]))
      else units.add(unit)
      return unit
    },
    recordTaken({ key, policy }, unit, atMs) {
      unit.untilMs = atMs + undecidedMsOf(policy)
      const units = byKey.get(key) ?? []
      for (const oldest of units) {
        if (oldest.untilMs === 0 || oldest.untilMs > atMs) break
        this.delete(key, oldest)
      }
    },
    delete(key, unit) {
      const units = byKey.get(key)
      units?.delete(unit)
      if (units?.size === 0) byKey.delete(key)
    },
    forget: (key) => byKey.delete(key),
    of: (key) => byKey.get(key) ?? [],
  }
}

/**
 * Returns how many units of a limit each process may leave unmarked at once. The same bound holds for the
 * units that stay unmarked in all processes together.
 */
export function mostUnmarked({ limit }: Policy): number {
  return limit < LEAST_LIMIT ? 0 : Math.floor(limit * UNMARKED_SHARE)
}

function sumOf(units: Iterable<UnmarkedUnit>): number {
  let sum = 0
  for (const { cost } of units) sum += cost
  return sum
}

/** Returns how many of the units are taken, and undecided at `nowMs`. */
export function undecidedAt(units: Iterable<UnmarkedUnit>, nowMs: number): number {
  let sum = 0
  for (const { cost, untilMs } of units) if (untilMs > nowMs) sum += cost
  return sum
}
