import { bucketUnit } from '../../../policies/bucket-grid.js'
import type { Policy } from '../../../policies/policy.js'
import type { BaseSpec } from '../../../policies/spec.js'
import { NEVER_S } from '../expiry.js'
import { CLOCK } from './codec.js'

/** The SQL expressions that the SQL of a policy is made of. */
export interface Names {
  /** The state of the row. */
  readonly state: string
  /** The time in ms since the Unix epoch. */
  readonly now: string
  /** The same, as a bucket rounds it. */
  readonly nowOnGrid: string
  readonly cost: string
  /** Returns one of the policy's values, by its index. */
  value(index: number, type?: 'int'): string
}

/** SQL expressions that take units of a policy. */
interface TakeSql {
  /** How many numbers a state has. */
  readonly width: string
  /** The state of a new row. */
  readonly first: string
  /** Whether the charge is allowed. The statement has locked the row by then. */
  readonly isAllowed: string
  /** The next state of an existing row. May read the clock a moment after `isAllowed`. */
  readonly next: string
  /** When the units were taken, as the next state shows. */
  readonly takenAt: string
}

/**
 * How a kind of policy takes units in SQL: a translation of `take` for the common case. It never allows what
 * `take` denies. It may fail to allow what `take` allows, because `take` then decides. Whatever depends on
 * the charge alone is computed in TypeScript: the fewer operators, the faster the server plans the
 * statement.
 */
interface TakeKind<Spec extends BaseSpec = BaseSpec> {
  /** Returns the policy's values for a cost. */
  valuesOf(spec: Spec, cost: number): readonly number[]
  /** Returns the longest time until a state is fresh. */
  resetMs(spec: Spec): number
  /** Whether the second number of a new row's state is the present. */
  readonly beginsWithTime?: true
  sql(names: Names): TakeSql
}

/** All base policies except a quota, which needs a calendar, and a sliding log, which would need a loop. */
type TakeableSpec = Exclude<BaseSpec, { readonly kind: 'quota' | 'sliding-log' }>

type SpecOf<Kind> = Extract<BaseSpec, { readonly kind: Kind }>

/**
 * State: the tokens missing after the last charge, and its time. The values are the refill times of the
 * cost, of the rest of the capacity and of one token, the last one again in units, the rounding error of a
 * division, and the unit.
 */
const TOKEN_BUCKET: TakeKind<SpecOf<'token-bucket'>> = {
  valuesOf({ capacity, intervalMs: ms, debt = 0 }, cost) {
    const unitMs = bucketUnit(ms)
    const perToken = ms / unitMs
    const rounding = Math.min(0.5, (capacity + debt) * perToken * 2 ** -51)
    return [cost * ms, (capacity - cost) * ms, ms, perToken, rounding, unitMs]
  },
  resetMs: ({ capacity, intervalMs: ms }) => capacity * ms,
  beginsWithTime: true,
  sql({ state, nowOnGrid, cost, value }) {
    const [costMs, roomMs, intervalMs] = [value(0), value(1), value(2)]
    const refillMs = `ceil(${state}[1] * ${value(3)} - ${value(4)}) * ${value(5)}`
    const missingMs = `${refillMs} - (${nowOnGrid} - ${state}[2])` // negative if the bucket is full
    return {
      width: '2',
      first: `ARRAY[${cost}, ${nowOnGrid}]`,
      isAllowed: `${missingMs} <= ${roomMs} AND '-Infinity' < ALL (${state})`, // not in a corrupt row
      next: `ARRAY[(greatest(0, ${missingMs}) + ${costMs}) / ${intervalMs}, ${nowOnGrid}]`,
      takenAt: `${state}[2]`,
    }
  },
}

/** State: the count, and the time of the last charge. The values are the window, and the limit less the cost. */
const FIXED_WINDOW: TakeKind<SpecOf<'fixed-window' | 'first-request-window'>> = {
  valuesOf: ({ limit, windowMs }, cost) => [windowMs, limit - cost],
  resetMs: ({ windowMs }) => windowMs,
  beginsWithTime: true,
  sql({ state, now, cost, value }) {
    const window = value(0)
    const start = `floor(${now} / ${window}) * ${window}`
    const count = `(CASE WHEN ${state}[2] >= ${start} THEN ${state}[1] ELSE 0 END)`
    return {
      width: '2',
      first: `ARRAY[${cost}, ${now}]`,
      isAllowed: `${state}[2] < ${start} + ${window} AND ${count} <= ${value(1)}`,
      next: `ARRAY[${count} + ${cost}, greatest(${state}[2], ${now})]`,
      takenAt: `${state}[2]`,
    }
  },
}

/** As above, but the time is when the window began. */
const FIRST_REQUEST_WINDOW: TakeKind<SpecOf<'first-request-window'>> = {
  ...FIXED_WINDOW,
  sql({ state, now, cost, value }) {
    const first = `ARRAY[${cost}, ${now}]`
    const hasEnded = `${state}[2] + ${value(0)} <= ${now}`
    return {
      width: '2',
      first,
      isAllowed: `(${state}[1] <= ${value(1)} OR ${hasEnded}) AND ${state}[2] <= ${now}`,
      next: `CASE WHEN ${hasEnded} THEN ${first} ELSE ARRAY[${state}[1] + ${cost}, ${state}[2]] END`,
      takenAt: `CASE WHEN ${state}[1] = ${cost} THEN ${state}[2] ELSE ${CLOCK} END`, // the first units begin the window
    }
  },
}

/**
 * State: the index of the newest slice, its counter, and the counters of older slices. The values are the
 * window, the limit less the cost, and the number of slices.
 */
const SLIDING_WINDOW: TakeKind<SpecOf<'sliding-window'>> = {
  valuesOf: ({ limit, windowMs, slices }, cost) => [windowMs, limit - cost, slices],
  resetMs: ({ windowMs, slices }) => windowMs + Math.ceil(windowMs / slices),
  sql({ state, now, cost, value }) {
    const [window, room, slices] = [value(0), value(1), value(2, 'int')]
    const ticks = `floor(${now}) * ${slices}`
    const index = `floor(${ticks} / ${window})`
    const first = `ARRAY[${index}, ${cost}] || array_fill(0::float8, ARRAY[${slices}])`
    // the slices since the row was written
    const shift = `least(${index} - ${state}[1], ${slices} + 1)::int`
    const whole = `(SELECT coalesce(sum(c), 0) FROM unnest(${state}[2 : ${slices} + 1 - ${shift}]) AS c)`
    const oldest = `coalesce((${state}[2 : ${slices} + 2])[${slices} + 1 - ${shift}], 0)`
    const weighted = `floor(${oldest} * (${window} - (${ticks} - ${index} * ${window})) / ${window})`
    const same = `${state}[1:1] || (${state}[2] + ${cost}) || ${state}[3 : ${slices} + 2]`
    const shifted = `(${first})[1 : ${shift} + 1] || ${state}[2 : ${slices} + 2 - ${shift}]`
    const end = `ceil((${state}[1] + 1) * ${window} / ${slices})` // of the slice that has the units
    return {
      width: `${slices} + 2`,
      first,
      isAllowed: `${state}[1] <= ${index} AND ${whole} + ${weighted} <= ${room}`,
      next: `CASE WHEN ${state}[1] = ${index} THEN ${same} ELSE ${shifted} END`,
      takenAt: `least(${CLOCK}, ${end} - 0.001)`,
    }
  },
}

/** State: the count. The value is the limit less the cost. */
const CONSECUTIVE: TakeKind<SpecOf<'consecutive'>> = {
  valuesOf: ({ limit }, cost) => [limit - cost],
  resetMs: () => NEVER_S * 1000,
  sql: ({ state, cost, value }) => ({
    width: '1',
    first: `ARRAY[${cost}]`,
    isAllowed: `${state}[1] <= ${value(0)}`,
    next: `ARRAY[${state}[1] + ${cost}]`,
    takenAt: CLOCK,
  }),
}

const KINDS: Readonly<Record<TakeableSpec['kind'], TakeKind>> = {
  'token-bucket': TOKEN_BUCKET,
  'fixed-window': FIXED_WINDOW,
  'first-request-window': FIRST_REQUEST_WINDOW,
  'sliding-window': SLIDING_WINDOW,
  consecutive: CONSECUTIVE,
}

/** Returns whether a statement can take units of a policy: not of a ban, which also writes denials. */
export function canTake({ spec }: Policy): boolean {
  return spec.kind in KINDS
}

/** Returns how a statement takes units of such a policy. */
export function takeKindOf({ spec }: Policy): TakeKind {
  return KINDS[spec.kind as TakeableSpec['kind']]
}
