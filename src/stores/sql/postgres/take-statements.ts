import type { BaseSpec } from '../../../policies/spec.js'
import type { Part } from '../../operation.js'
import { expiryStepS } from '../expiry.js'
import { type PostgresQuery, type PreparedStatement, preparedStatement } from './client.js'
import { CLOCK, encodeAsHex, keyList } from './codec.js'
import { type Names, takeKindOf } from './kinds.js'

/** The time in ms since the Unix epoch, in an expression that is selected `FROM` the clock. */
const NOW = 'clock.ms'
const FROM_CLOCK = `FROM (SELECT ${CLOCK} AS ms OFFSET 0) AS clock`

/**
 * Makes an expression read the clock once. If it uses the time several times, that takes a subquery (2 µs).
 */
function readClockOnce(expression: string): string {
  const uses = expression.split(NOW).length - 1
  return uses > 1 ? `(SELECT ${expression} ${FROM_CLOCK})` : `(${expression.replace(NOW, CLOCK)})`
}

/** How long a transaction waits for a row that another transaction has locked. */
export const LOCK_TIMEOUT_MS = 1000
const SET_LOCK_TIMEOUT = `set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', true)`

/**
 * Creates the query for charges that differ only in their keys. `keys` has the keys of each charge, one for
 * each part.
 */
export type TakeQuery = (parts: readonly Part[], keys: readonly (readonly Buffer[])[]) => PostgresQuery

/**
 * Creates the queries that take all parts of a charge, or none. A query returns a row for each charge that
 * is allowed: the state of each part, the first one with the time before it, and then the key of the first
 * part. The key is left out for a single charge of one part.
 */
export function takeQueries(table: string): TakeQuery {
  const statements = new Map<string, PreparedStatement>()
  return (parts, keys) => {
    const isAlone = keys.length === 1
    const shape = `${isAlone} ${parts.map(({ policy }) => policy.spec.kind)}`
    const statement =
      statements.get(shape) ??
      preparedStatement(parts.length === 1 ? takePart(table, parts, isAlone) : takeParts(table, parts))
    statements.set(shape, statement)
    const keysOf = parts.map((_, i) => keys.map((each) => each[i] as Buffer))
    const ownKeys = parts.length === 1 && isAlone ? keysOf[0] : keysOf.map(keyList)
    return statement([...(ownKeys ?? []), ...parts.flatMap(valuesOf)])
  }
}

/** Returns a part's values: those of its expiry, its cost, and those of its policy. */
function valuesOf({ policy, cost }: Part): readonly number[] {
  const spec = policy.spec as BaseSpec // canTake has checked it
  const kind = takeKindOf(policy)
  const stepS = expiryStepS(policy)
  const steps = Math.ceil(kind.resetMs(spec) / (stepS * 1000)) + 1
  return [stepS, steps, cost, ...kind.valuesOf(spec, cost)]
}

/** Returns the SQL of a part whose values are the parameters from `$first` on. */
function sqlOf({ policy }: Part, state: string, first: number) {
  const parameter = (index: number, type = 'float8') => `$${first + index}::${type}`
  const [step, steps] = [parameter(0), parameter(1)]
  const value: Names['value'] = (index, type) => parameter(3 + index, type)
  return {
    ...takeKindOf(policy).sql({ state, now: NOW, cost: parameter(2), value }),
    /** Each write keeps the row for `steps` steps, counted from the current one. */
    expiresAt: `(floor(${NOW} / 1000 / ${step}) + ${steps}) * ${step}`,
  }
}

/** Returns the statement for charges of one part. It locks the rows in the order of the keys that it gets. */
function takePart(table: string, [part]: readonly Part[], isAlone: boolean): string {
  const { width, first, isAllowed, next, takenAt, expiresAt } = sqlOf(part as Part, 't.state', 2)
  const rows = isAlone
    ? `SELECT $1::bytea, ${first}, ${expiresAt} ${FROM_CLOCK}`
    : `SELECT r.key, ${first}, ${expiresAt} ${FROM_CLOCK}, unnest($1::bytea[]) AS r (key)`
  return [
    `INSERT INTO ${table} AS t (key, state, expires_at) ${rows}`,
    'ON CONFLICT (key) DO UPDATE',
    `SET state = ${readClockOnce(next)}, expires_at = greatest(t.expires_at, excluded.expires_at)`,
    `WHERE cardinality(t.state) = ${width} AND ${readClockOnce(isAllowed)}`,
    `RETURNING ${encodeAsHex(takenAt, 't.state')}${isAlone ? '' : ", encode(t.key, 'hex')"}`,
  ].join('\n')
}

/**
 * Returns the statement for charges of several parts. It locks the rows in the order of their keys, then
 * reads the time and decides. It cannot lock a missing row, so it fails if another transaction inserts one
 * meanwhile.
 */
function takeParts(table: string, parts: readonly Part[]): string {
  let first = parts.length + 1
  const each = parts.map((part, i) => {
    const [row, key] = [`l${i}`, `key${i}`]
    const { width, isAllowed, next, ...sql } = sqlOf(part, `${row}.state`, first)
    first += valuesOf(part).length
    return {
      row,
      key,
      keys: `$${i + 1}::bytea[]`,
      state: `CASE WHEN ${row}.is_new THEN ${sql.first} ELSE ${next} END`,
      expiresAt: sql.expiresAt,
      canTake: `(${row}.is_new OR cardinality(${row}.state) = ${width} AND ${isAllowed})`,
    }
  })
  const list = (write: (part: (typeof each)[number], index: number) => string, separator = ', ') =>
    each.map(write).join(separator)
  return `
WITH locked AS (
  SELECT k.key, t.key IS NULL AS is_new, t.state
  FROM (SELECT unnest(CASE WHEN ${SET_LOCK_TIMEOUT} IS NOT NULL THEN ${list(({ keys }) => keys, ' || ')} END) AS key ORDER BY key) AS k
  LEFT JOIN LATERAL (SELECT key, state FROM ${table} WHERE key = k.key FOR UPDATE) AS t ON true
), clock AS (
  SELECT ${CLOCK} AS ms, count(*) FROM locked
), taken AS (
  SELECT ${NOW}, ${list(({ row, state, expiresAt }, i) => `${row}.key AS key${i}, ${row}.is_new AS is_new${i}, ${state} AS state${i}, ${expiresAt} AS expires_at${i}`)}
  FROM clock, unnest(${list(({ keys }) => keys)}) AS r (${list(({ key }) => key)})
  ${list(({ row, key }) => `JOIN locked AS ${row} ON ${row}.key = r.${key}`, ' ')}
  WHERE ${list(({ canTake }) => canTake, ' AND ')}
), rows (key, is_new, state, expires_at) AS (
  ${list((_, i) => `SELECT key${i}, is_new${i}, state${i}, expires_at${i} FROM taken`, ' UNION ALL ')}
), inserted AS (
  INSERT INTO ${table} (key, state, expires_at) SELECT key, state, expires_at FROM rows WHERE is_new ORDER BY key
), updated AS (
  INSERT INTO ${table} AS t (key, state, expires_at) SELECT key, state, expires_at FROM rows WHERE NOT is_new
  ON CONFLICT (key) DO UPDATE SET state = excluded.state, expires_at = greatest(t.expires_at, excluded.expires_at)
)
SELECT ${list((_, i) => encodeAsHex(i === 0 ? 'ms' : '0', `state${i}`))}, encode(key0, 'hex') FROM taken`
}
