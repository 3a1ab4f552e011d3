import { GRID_PER_MS, isOnGrid } from '../../../policies/bucket-grid.js'
import type { Policy } from '../../../policies/policy.js'
import type { BaseSpec } from '../../../policies/spec.js'
import { weakMemo } from '../../../util/memo.js'
import { expiryStepS, NEVER_S } from '../expiry.js'
import { type PostgresQuery, preparedStatement } from './client.js'
import { CLOCK, encodeAsHex } from './codec.js'

/** The time of the statement, in ms since the Unix epoch: read once, when the row is locked. */
const NOW = '(SELECT ms FROM clock)'

/**
 * How a kind of policy takes units in SQL: a translation of `take` for the common case. It may refuse what
 * `take` allows, never the reverse: `take` decides what it refuses. What depends on the charge alone is
 * computed in TypeScript: the fewer operators, the faster the server plans the statement.
 */
interface TakeSql<Spec extends BaseSpec = BaseSpec> {
  /** Returns the values of the SQL parameters from $4 on. */
  valuesOf(spec: Spec, cost: number): readonly number[]
  /** Returns the longest time until a state is fresh. */
  resetMs(spec: Spec): number
  /** SQL: the state of a new row, which the other two call `excluded.state`. */
  readonly first: string
  /** SQL: the next state of the existing row `t`. */
  readonly next: string
  /** SQL: whether to take. Refuses a state from the future, written before the clock went back. */
  readonly isAllowed: string
}

/** All but a quota, since a statement knows no calendar, and a log, which would be a loop in SQL. */
type TakeableSpec = Exclude<BaseSpec, { readonly kind: 'quota' | 'sliding-log' }>

type SpecOf<Kind> = Extract<BaseSpec, { readonly kind: Kind }>

/**
 * State: the policy's numbers and when the bucket will be full. $4 is how long the cost takes to refill, $5 how
 * long the rest, $6 to $8 are the policy's numbers.
 */
const TOKEN_BUCKET: TakeSql<SpecOf<'token-bucket'>> = {
  valuesOf: ({ capacity, intervalMs, debt = 0 }, cost) => [
    cost * intervalMs,
    (capacity - cost) * intervalMs,
    capacity,
    intervalMs,
    debt,
  ],
  resetMs: ({ capacity, intervalMs }) => capacity * intervalMs,
  first: bucketState(`floor(${NOW} * ${GRID_PER_MS}) / ${GRID_PER_MS} + $4::float8`),
  next: bucketState('greatest(excluded.state[3], t.state[3] + $4::float8)'),
  isAllowed:
    't.state[1:2] = excluded.state[1:2] AND t.state[4:5] = excluded.state[4:5] ' +
    'AND t.state[3] + $4::float8 <= excluded.state[3] + $5::float8',
}

function bucketState(fullAt: string): string {
  return `ARRAY[$6::float8, $7::float8, ${fullAt}, $8::float8, 0]`
}

const WINDOW_COUNT = '(CASE WHEN t.state[3] = excluded.state[3] THEN t.state[4] ELSE 0 END)'

/**
 * State: the limit, the window, its start and the count. $4 is the cost, $5 the window, $6 the limit less the
 * cost, $7 the limit.
 */
const FIXED_WINDOW: TakeSql<SpecOf<'fixed-window' | 'first-request-window'>> = {
  valuesOf: ({ limit, windowMs }, cost) => [cost, windowMs, limit - cost, limit],
  resetMs: ({ windowMs }) => windowMs,
  first: `ARRAY[$7::float8, $5::float8, floor(${NOW} / $5::float8) * $5::float8, $4::float8]`,
  next: `ARRAY[$7::float8, $5::float8, excluded.state[3], ${WINDOW_COUNT} + $4::float8]`,
  isAllowed: `t.state[1:2] = excluded.state[1:2] AND t.state[3] <= excluded.state[3] AND ${WINDOW_COUNT} <= $6::float8`,
}

const HAS_ENDED = 't.state[3] + $5::float8 <= excluded.state[3]'

/** As above, but the window began at any time. */
const FIRST_REQUEST_WINDOW: TakeSql<SpecOf<'first-request-window'>> = {
  valuesOf: FIXED_WINDOW.valuesOf,
  resetMs: FIXED_WINDOW.resetMs,
  first: `ARRAY[$7::float8, $5::float8, ${NOW}, $4::float8]`,
  next: `CASE WHEN ${HAS_ENDED} THEN excluded.state ELSE t.state[1:3] || (t.state[4] + $4::float8) END`,
  isAllowed:
    't.state[1:2] = excluded.state[1:2] AND t.state[3] <= excluded.state[3] ' +
    `AND (t.state[4] <= $6::float8 OR ${HAS_ENDED})`,
}

/** State: the limit, the window, the slices, the newest slice's index, its counter and older ones. */
function slidingWindow(): TakeSql<SpecOf<'sliding-window'>> {
  const [cost, window, room, slices] = ['$4::float8', '$5::float8', '$6::float8', '$8::int']
  const numbers = `ARRAY[$7::float8, ${window}, ${slices}::float8]`
  const ticks = `floor(${NOW}) * ${slices}`
  // the slices since the row was written
  const shift = `least(excluded.state[4] - t.state[4], ${slices} + 1)::int`
  const whole = `(SELECT coalesce(sum(c), 0) FROM unnest(t.state[5 : ${slices} + 4 - ${shift}]) AS c)`
  const oldest = `coalesce((t.state[5 : ${slices} + 5])[${slices} + 1 - ${shift}], 0)`
  const weighted = `floor(${oldest} * (${window} - (${ticks} - excluded.state[4] * ${window})) / ${window})`
  const same = `t.state[1:4] || (t.state[5] + ${cost}) || t.state[6 : ${slices} + 5]`
  const shifted = `excluded.state[1 : ${shift} + 4] || t.state[5 : ${slices} + 5 - ${shift}]`
  return {
    valuesOf: ({ limit, windowMs, slices: count }, taken) => [taken, windowMs, limit - taken, limit, count],
    resetMs: ({ windowMs, slices: count }) => windowMs + Math.ceil(windowMs / count),
    first: `${numbers} || ARRAY[floor(${ticks} / ${window}), ${cost}] || array_fill(0::float8, ARRAY[${slices}])`,
    next: `CASE WHEN t.state[4] = excluded.state[4] THEN ${same} ELSE ${shifted} END`,
    isAllowed: `t.state[1:3] = excluded.state[1:3] AND t.state[4] <= excluded.state[4] AND ${whole} + ${weighted} <= ${room}`,
  }
}

/** State: the limit, and the count. $4 is the cost, $5 the limit less the cost, $6 the limit. */
const CONSECUTIVE: TakeSql<SpecOf<'consecutive'>> = {
  valuesOf: ({ limit }, cost) => [cost, limit - cost, limit],
  resetMs: () => NEVER_S * 1000,
  first: 'ARRAY[$6::float8, $4::float8]',
  next: 'ARRAY[$6::float8, t.state[2] + $4::float8]',
  isAllowed: 't.state[1] = $6::float8 AND t.state[2] <= $5::float8',
}

const KINDS: Readonly<Record<TakeableSpec['kind'], TakeSql>> = {
  'token-bucket': TOKEN_BUCKET,
  'fixed-window': FIXED_WINDOW,
  'first-request-window': FIRST_REQUEST_WINDOW,
  'sliding-window': slidingWindow(),
  consecutive: CONSECUTIVE,
}

/** A policy whose units a single statement can take. */
type TakeablePolicy = Policy & { readonly spec: TakeableSpec }

/**
 * Whether one statement can take units of a policy. Not of a ban, which also writes when it denies, nor of a
 * bucket whose times are not on the grid.
 */
export function canTake(policy: Policy): policy is TakeablePolicy {
  const { spec } = policy
  return spec.kind in KINDS && !(spec.kind === 'token-bucket' && !isOnGrid(spec.intervalMs))
}

/** Returns a function that creates queries, which take units and return the time and state, or no row. */
export function takeStatements(
  table: string,
): (policy: TakeablePolicy, key: Buffer, cost: number) => PostgresQuery {
  const statementOf = weakMemo((sql: TakeSql) => preparedStatement(sqlOf(table, sql)))
  return (policy, key, cost) => {
    const { spec } = policy
    const sql = KINDS[spec.kind]
    const stepS = expiryStepS(policy)
    const steps = Math.ceil(sql.resetMs(spec) / (stepS * 1000)) + 1
    return statementOf(sql)([key, stepS, steps, ...sql.valuesOf(spec, cost)])
  }
}

/**
 * Each write keeps the row for $3 steps of $2 seconds, counted from the present step. Locks the row before
 * it reads the clock: otherwise, writes that the statement waited for would seem to come from the future.
 */
function sqlOf(table: string, { first, next, isAllowed }: TakeSql): string {
  const expiry = `(floor(${NOW} / 1000 / $2::float8) + $3::float8) * $2::float8`
  return [
    `WITH locked AS MATERIALIZED (SELECT 1 FROM ${table} WHERE key = $1 FOR UPDATE),`,
    `clock AS MATERIALIZED (SELECT ${CLOCK} AS ms, count(*) FROM locked)`,
    `INSERT INTO ${table} AS t (key, state, expires_at) VALUES ($1, ${first}, ${expiry})`,
    `ON CONFLICT (key) DO UPDATE SET state = ${next}, expires_at = excluded.expires_at`,
    `WHERE ${isAllowed} RETURNING ${encodeAsHex(NOW, 't.state')}`,
  ].join('\n')
}
