import { GRID_PER_MS } from '../../../policies/bucket-grid.js'
import type { Policy } from '../../../policies/policy.js'
import type { BaseSpec } from '../../../policies/spec.js'
import { weakMemo } from '../../../util/memo.js'
import { expiryStepS, NEVER_S } from '../expiry.js'
import { type PostgresQuery, preparedStatement } from './client.js'
import { encodeAsHex, NOW } from './codec.js'

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

type SpecOf<Kind> = Extract<BaseSpec, { readonly kind: Kind }>

/** State: when the bucket will be full. $4 is how long the cost takes to refill, $5 how long the rest. */
const TOKEN_BUCKET: TakeSql<SpecOf<'token-bucket'>> = {
  valuesOf: ({ capacity, intervalMs }, cost) => [cost * intervalMs, (capacity - cost) * intervalMs],
  resetMs: ({ capacity, intervalMs }) => capacity * intervalMs,
  first: `ARRAY[floor(${NOW} * ${GRID_PER_MS}) / ${GRID_PER_MS} + $4::float8]`,
  next: 'ARRAY[greatest(excluded.state[1], t.state[1] + $4::float8)]',
  isAllowed: 't.state[1] + $4::float8 <= excluded.state[1] + $5::float8',
}

const WINDOW_COUNT = '(CASE WHEN t.state[1] = excluded.state[1] THEN t.state[2] ELSE 0 END)'

/** State: the window's index, and the count. $4 is the cost, $5 the window, $6 the limit less the cost. */
const FIXED_WINDOW: TakeSql<SpecOf<'fixed-window' | 'first-request-window'>> = {
  valuesOf: ({ limit, windowMs }, cost) => [cost, windowMs, limit - cost],
  resetMs: ({ windowMs }) => windowMs,
  first: `ARRAY[floor(${NOW} / $5::float8), $4::float8]`,
  next: `ARRAY[excluded.state[1], ${WINDOW_COUNT} + $4::float8]`,
  isAllowed: `t.state[1] <= excluded.state[1] AND ${WINDOW_COUNT} <= $6::float8`,
}

const HAS_ENDED = 't.state[1] + $5::float8 <= excluded.state[1]'

/** State: when the window began, and the count. $4 to $6 as above. */
const FIRST_REQUEST_WINDOW: TakeSql<SpecOf<'first-request-window'>> = {
  valuesOf: FIXED_WINDOW.valuesOf,
  resetMs: FIXED_WINDOW.resetMs,
  first: `ARRAY[${NOW}, $4::float8]`,
  next: `CASE WHEN ${HAS_ENDED} THEN excluded.state ELSE ARRAY[t.state[1], t.state[2] + $4::float8] END`,
  isAllowed: `t.state[1] <= excluded.state[1] AND (t.state[2] <= $6::float8 OR ${HAS_ENDED})`,
}

/** State: the newest slice's index, its counter and older ones. $4 to $6 as above, $7 the slices. */
function slidingWindow(): TakeSql<SpecOf<'sliding-window'>> {
  const [cost, window, room, slices] = ['$4::float8', '$5::float8', '$6::float8', '$7::int']
  const ticks = `floor(${NOW}) * ${slices}`
  // the slices since the row was written
  const shift = `least(excluded.state[1] - t.state[1], ${slices} + 1)::int`
  const whole = `(SELECT coalesce(sum(c), 0) FROM unnest(t.state[2 : ${slices} + 1 - ${shift}]) AS c)`
  const oldest = `coalesce((t.state[2 : ${slices} + 2])[${slices} + 1 - ${shift}], 0)`
  const weighted = `floor(${oldest} * (${window} - (${ticks} - excluded.state[1] * ${window})) / ${window})`
  const same = `ARRAY[t.state[1], t.state[2] + ${cost}] || t.state[3 : ${slices} + 2]`
  const shifted = `excluded.state[1 : ${shift} + 1] || t.state[2 : ${slices} + 2 - ${shift}]`
  return {
    valuesOf: ({ limit, windowMs, slices: count }, taken) => [taken, windowMs, limit - taken, count],
    resetMs: ({ windowMs, slices: count }) => windowMs + Math.ceil(windowMs / count),
    first: `ARRAY[floor(${ticks} / ${window}), ${cost}] || array_fill(0::float8, ARRAY[${slices}])`,
    next: `CASE WHEN t.state[1] = excluded.state[1] THEN ${same} ELSE ${shifted} END`,
    isAllowed: `t.state[1] <= excluded.state[1] AND ${whole} + ${weighted} <= ${room}`,
  }
}

/** State: the count. $4 is the cost, $5 the limit less the cost. */
const CONSECUTIVE: TakeSql<SpecOf<'consecutive'>> = {
  valuesOf: ({ limit }, cost) => [cost, limit - cost],
  resetMs: () => NEVER_S * 1000,
  first: 'ARRAY[$4::float8]',
  next: 'ARRAY[t.state[1] + $4::float8]',
  isAllowed: 't.state[1] <= $5::float8',
}

const KINDS: Readonly<Record<BaseSpec['kind'], TakeSql>> = {
  'token-bucket': TOKEN_BUCKET,
  'fixed-window': FIXED_WINDOW,
  'first-request-window': FIRST_REQUEST_WINDOW,
  'sliding-window': slidingWindow(),
  consecutive: CONSECUTIVE,
}

/** A policy whose units a single statement can take. */
type TakeablePolicy = Policy & { readonly spec: BaseSpec }

/** Whether one statement can take units of a policy. Not of a ban, which also writes when it denies. */
export function canTake(policy: Policy): policy is TakeablePolicy {
  return policy.spec.kind in KINDS
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

/** Each write keeps the row for $3 steps of $2 seconds, counted from the present step. */
function sqlOf(table: string, { first, next, isAllowed }: TakeSql): string {
  const expiry = "(floor(date_part('epoch', now()) / $2::float8) + $3::float8) * $2::float8"
  return [
    `INSERT INTO ${table} AS t (key, state, expires_at) VALUES ($1, ${first}, ${expiry})`,
    `ON CONFLICT (key) DO UPDATE SET state = ${next}, expires_at = excluded.expires_at`,
    `WHERE ${isAllowed} RETURNING ${encodeAsHex(NOW, 't.state')}`,
  ].join('\n')
}
