import { bucketUnit, GRID_PER_MS } from '../../../policies/bucket-grid.js'
import type { Policy } from '../../../policies/policy.js'
import type { BaseSpec } from '../../../policies/spec.js'
import { weakMemo } from '../../../util/memo.js'
import { expiryStepS, NEVER_S } from '../expiry.js'
import { type PostgresQuery, preparedStatement } from './client.js'
import { CLOCK, encodeAsHex, keyList } from './codec.js'

/** The time in ms since the Unix epoch, where an expression is evaluated `FROM` the clock. */
const NOW = 'clock.ms'
/** Reads the time once for each expression. */
const FROM_CLOCK = `FROM (SELECT ${CLOCK} AS ms OFFSET 0) AS clock`

/**
 * How a kind of policy takes units in SQL: a translation of `take` for the common case. It may refuse what
 * `take` allows, never the reverse: `take` decides what it refuses. What depends on the charge alone is
 * computed in TypeScript: the fewer operators, the faster the server plans the statement.
 */
interface TakeSql<Spec extends BaseSpec = BaseSpec> {
  /** Returns the values of the SQL parameters from $5 on. $4 is the cost. */
  valuesOf(spec: Spec, cost: number): readonly number[]
  /** Returns the longest time until a state is fresh. */
  resetMs(spec: Spec): number
  /** SQL: how many numbers a state has. */
  readonly width: string
  /** SQL: the state of a new row. */
  readonly first: string
  /** SQL: whether to take. The statement has locked the row by then. */
  readonly isAllowed: string
  /** SQL: the next state of the existing row `t`, a moment later. */
  readonly next: string
  /** SQL: when the units were taken, of the row `t` after it. */
  readonly takenAt: string
}

/** All but a quota, since a statement knows no calendar, and a log, which would be a loop in SQL. */
type TakeableSpec = Exclude<BaseSpec, { readonly kind: 'quota' | 'sliding-log' }>

type SpecOf<Kind> = Extract<BaseSpec, { readonly kind: Kind }>

/**
 * State: the tokens missing after the last charge, and its time. $5 is how long the cost takes to refill, $6 how
 * long the rest, $7 the time for a token, $8 that time in units of $10, and $9 the error of a division.
 */
function tokenBucket(): TakeSql<SpecOf<'token-bucket'>> {
  const [costMs, roomMs, intervalMs] = ['$5::float8', '$6::float8', '$7::float8']
  const refillMs = 'ceil(t.state[1] * $8::float8 - $9::float8) * $10::float8'
  const now = `floor(${NOW} * ${GRID_PER_MS}) / ${GRID_PER_MS}`
  const missingMs = `greatest(0, ${refillMs} - (${now} - t.state[2]))`
  return {
    valuesOf({ capacity, intervalMs: ms, debt = 0 }, cost) {
      const unitMs = bucketUnit(ms)
      const perToken = ms / unitMs
      const rounding = Math.min(0.5, (capacity + debt) * perToken * 2 ** -51)
      return [cost * ms, (capacity - cost) * ms, ms, perToken, rounding, unitMs]
    },
    resetMs: ({ capacity, intervalMs: ms }) => capacity * ms,
    width: '2',
    first: `ARRAY[$4::float8, ${now}]`,
    isAllowed: `${missingMs} <= ${roomMs} AND abs(t.state[1] + t.state[2]) < 'Infinity'`, // not in a corrupt row
    next: `ARRAY[(${missingMs} + ${costMs}) / ${intervalMs}, ${now}]`,
    takenAt: 't.state[2]',
  }
}

const WINDOW_START = `floor(${NOW} / $5::float8) * $5::float8`
const WINDOW_COUNT = `(CASE WHEN t.state[2] >= ${WINDOW_START} THEN t.state[1] ELSE 0 END)`

/** State: the count, and the time of the last charge. $5 is the window, $6 the limit less the cost. */
const FIXED_WINDOW: TakeSql<SpecOf<'fixed-window' | 'first-request-window'>> = {
  valuesOf: ({ limit, windowMs }, cost) => [windowMs, limit - cost],
  resetMs: ({ windowMs }) => windowMs,
  width: '2',
  first: `ARRAY[$4::float8, ${NOW}]`,
  isAllowed: `t.state[2] < ${WINDOW_START} + $5::float8 AND ${WINDOW_COUNT} <= $6::float8`,
  next: `ARRAY[${WINDOW_COUNT} + $4::float8, greatest(t.state[2], ${NOW})]`,
  takenAt: 't.state[2]',
}

const HAS_ENDED = `t.state[2] + $5::float8 <= ${NOW}`

/** As above, but the time is when the window began. */
const FIRST_REQUEST_WINDOW: TakeSql<SpecOf<'first-request-window'>> = {
  ...FIXED_WINDOW,
  isAllowed: `(t.state[1] <= $6::float8 OR ${HAS_ENDED}) AND t.state[2] <= ${NOW}`,
  next: `CASE WHEN ${HAS_ENDED} THEN ${FIXED_WINDOW.first} ELSE ARRAY[t.state[1] + $4::float8, t.state[2]] END`,
  takenAt: `CASE WHEN t.state[1] = $4::float8 THEN t.state[2] ELSE ${CLOCK} END`, // the first units begin the window
}

/** State: the newest slice's index, its counter and older ones. $5 is the window, $6 the limit less the cost. */
function slidingWindow(): TakeSql<SpecOf<'sliding-window'>> {
  const [cost, window, room, slices] = ['$4::float8', '$5::float8', '$6::float8', '$7::int']
  const ticks = `floor(${NOW}) * ${slices}`
  const index = `floor(${ticks} / ${window})`
  const first = `ARRAY[${index}, ${cost}] || array_fill(0::float8, ARRAY[${slices}])`
  // the slices since the row was written
  const shift = `least(${index} - t.state[1], ${slices} + 1)::int`
  const whole = `(SELECT coalesce(sum(c), 0) FROM unnest(t.state[2 : ${slices} + 1 - ${shift}]) AS c)`
  const oldest = `coalesce((t.state[2 : ${slices} + 2])[${slices} + 1 - ${shift}], 0)`
  const weighted = `floor(${oldest} * (${window} - (${ticks} - ${index} * ${window})) / ${window})`
  const same = `t.state[1:1] || (t.state[2] + ${cost}) || t.state[3 : ${slices} + 2]`
  const shifted = `(${first})[1 : ${shift} + 1] || t.state[2 : ${slices} + 2 - ${shift}]`
  const end = `ceil((t.state[1] + 1) * ${window} / ${slices})` // of the slice that has the units
  return {
    valuesOf: ({ limit, windowMs, slices: count }, taken) => [windowMs, limit - taken, count],
    resetMs: ({ windowMs, slices: count }) => windowMs + Math.ceil(windowMs / count),
    width: `${slices} + 2`,
    first,
    isAllowed: `t.state[1] <= ${index} AND ${whole} + ${weighted} <= ${room}`,
    next: `CASE WHEN t.state[1] = ${index} THEN ${same} ELSE ${shifted} END`,
    takenAt: `least(${CLOCK}, ${end} - 0.001)`,
  }
}

/** State: the count. $5 is the limit less the cost. */
const CONSECUTIVE: TakeSql<SpecOf<'consecutive'>> = {
  valuesOf: ({ limit }, cost) => [limit - cost],
  resetMs: () => NEVER_S * 1000,
  width: '1',
  first: 'ARRAY[$4::float8]',
  isAllowed: 't.state[1] <= $5::float8',
  next: 'ARRAY[t.state[1] + $4::float8]',
  takenAt: CLOCK,
}

const KINDS: Readonly<Record<TakeableSpec['kind'], TakeSql>> = {
  'token-bucket': tokenBucket(),
  'fixed-window': FIXED_WINDOW,
  'first-request-window': FIRST_REQUEST_WINDOW,
  'sliding-window': slidingWindow(),
  consecutive: CONSECUTIVE,
}

/** A policy whose units a single statement can take. */
type TakeablePolicy = Policy & { readonly spec: TakeableSpec }

/** Whether one statement can take units of a policy. Not of a ban, which also writes when it denies. */
export function canTake(policy: Policy): policy is TakeablePolicy {
  return policy.spec.kind in KINDS
}

/**
 * Returns a function that creates queries, which take units of each key and return the time and state, or no
 * row. A query of several keys also returns the key.
 */
export function takeStatements(
  table: string,
): (policy: TakeablePolicy, keys: readonly Buffer[], cost: number) => PostgresQuery {
  const takeOne = weakMemo((sql: TakeSql) =>
    preparedStatement(sqlOf(table, sql, (values) => `SELECT $1::bytea, ${values} ${FROM_CLOCK}`)),
  )
  const takeEach = weakMemo((sql: TakeSql) => {
    const valuesOfEach = (values: string) =>
      `SELECT r.key, ${values} ${FROM_CLOCK}, unnest($1::bytea[]) AS r (key)`
    return preparedStatement(`${sqlOf(table, sql, valuesOfEach)}, encode(t.key, 'hex')`)
  })
  return (policy, keys, cost) => {
    const { spec } = policy
    const sql = KINDS[spec.kind]
    const stepS = expiryStepS(policy)
    const steps = Math.ceil(sql.resetMs(spec) / (stepS * 1000)) + 1
    const values = [stepS, steps, cost, ...sql.valuesOf(spec, cost)]
    return keys.length === 1 ? takeOne(sql)([keys[0], ...values]) : takeEach(sql)([keyList(keys), ...values])
  }
}

/** Each write keeps the row for $3 steps of $2 seconds, counted from the present step. */
function sqlOf(
  table: string,
  { width, first, next, isAllowed, takenAt }: TakeSql,
  rowsOf: (values: string) => string,
): string {
  const expiry = `(floor(${NOW} / 1000 / $2::float8) + $3::float8) * $2::float8`
  return [
    `INSERT INTO ${table} AS t (key, state, expires_at) ${rowsOf(`${first}, ${expiry}`)}`,
    `ON CONFLICT (key) DO UPDATE SET state = (SELECT ${next} ${FROM_CLOCK}), expires_at = excluded.expires_at`,
    `WHERE cardinality(t.state) = ${width} AND (SELECT ${isAllowed} ${FROM_CLOCK})`,
    `RETURNING ${encodeAsHex(takenAt, 't.state')}`,
  ].join('\n')
}
