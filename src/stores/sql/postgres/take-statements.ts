import { GRID_PER_MS } from '../../../policies/bucket-grid.js'
import type { BaseSpec } from '../../../policies/spec.js'
import type { Part } from '../../operation.js'
import { expiryStepS } from '../expiry.js'
import { type PostgresQuery, type PreparedStatement, preparedStatement } from './client.js'
import { CLOCK, encodeAsHex, keyList, keyParameter } from './codec.js'
import { type Names, takeKindOf } from './kinds.js'

/** The time in ms since the Unix epoch, in an expression that is selected `FROM` the clock. */
const NOW = 'clock.ms'
const FROM_CLOCK = `FROM (SELECT ${CLOCK} AS ms OFFSET 0) AS clock`

/**
 * Makes an expression read the clock once. If it uses the time several times, that takes a subquery (2 µs).
 */
function readClock(expression: string): string {
  const uses = expression.split(NOW).length - 1
  return uses > 1 ? `(SELECT ${expression} ${FROM_CLOCK})` : `(${expression.replace(NOW, CLOCK)})`
}

/** How long a transaction waits for a row that another transaction has locked. */
export const LOCK_TIMEOUT_MS = 1000
const SET_LOCK_TIMEOUT = `set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', true)`

/**
 * Creates the query for charges that differ only in their keys. `keys` has the keys of each charge, one for
 * each part, as hexadecimal digits.
 */
export type TakeQuery = (parts: readonly Part[], keys: readonly (readonly string[])[]) => PostgresQuery

/**
 * The most statements for single charges. They have the numbers in their text, which takes less time than
 * parameters, but each connection keeps all of them.
 */
const MAX_SINGLE = 16

/**
 * Creates the queries that take all parts of a charge, or none. A query returns a row for each charge that
 * is allowed: the state of each part, the first one with the time before it, and then the key of the first
 * part. The key is left out for a single charge of one part.
 */
export function takeQueries(table: string): TakeQuery {
  const single: { readonly parts: readonly Amount[]; readonly statement: PreparedStatement }[] = []
  const byKinds = new Map<string, PreparedStatement>()

  /** Returns the statement for a single charge, or `undefined` if there are too many. */
  function singleStatement(parts: readonly Part[]): PreparedStatement | undefined {
    const existing = single.find((each) => areTakenAlike(each.parts, parts))
    if (existing !== undefined || single.length === MAX_SINGLE) return existing?.statement
    const statement = preparedStatement(textOf(table, parts, parts.map(literalsOf), true))
    single.push({ parts: parts.map(({ policy, cost }) => ({ policy, cost })), statement })
    return statement
  }

  function batchStatement(parts: readonly Part[]): PreparedStatement {
    const kinds = parts.map(({ policy }) => policy.spec.kind).join()
    const statement =
      byKinds.get(kinds) ?? preparedStatement(textOf(table, parts, parametersOf(parts), false))
    byKinds.set(kinds, statement)
    return statement
  }

  return (parts, keys) => {
    const statement = keys.length === 1 ? singleStatement(parts) : undefined
    if (statement !== undefined && parts.length === 1) return statement([keyParameter(keys[0]?.[0] ?? '')])
    const lists = parts.map((_, i) => keyList(keys.map((each) => each[i] ?? '')))
    return statement?.(lists) ?? batchStatement(parts)([...lists, ...parts.flatMap(valuesOf)])
  }
}

/** What a part takes, whatever its key is. */
type Amount = Pick<Part, 'policy' | 'cost'>

export function areTakenAlike(parts: readonly Amount[], others: readonly Amount[]): boolean {
  if (parts.length !== others.length) return false
  return parts.every(({ policy, cost }, i) => policy === others[i]?.policy && cost === others[i]?.cost)
}

/** Returns a part's values: those of its expiry, its cost, and those of its policy. */
function valuesOf({ policy, cost }: Part): readonly number[] {
  const spec = policy.spec as BaseSpec // canTake has checked it
  const kind = takeKindOf(policy)
  const stepS = expiryStepS(policy)
  const steps = Math.ceil(kind.resetMs(spec) / (stepS * 1000)) + 1
  return [stepS, steps, cost, ...kind.valuesOf(spec, cost)]
}

/** Returns the SQL of one of a part's values, by its index. */
type WriteValue = Names['value']

function literalsOf(part: Part): WriteValue {
  const values = valuesOf(part)
  return (index, type: string = 'float8') => `'${values[index]}'::${type}`
}

/** The parameters follow those of the keys. */
function parametersOf(parts: readonly Part[]): readonly WriteValue[] {
  let next = parts.length + 1
  return parts.map((part): WriteValue => {
    const first = next
    next += valuesOf(part).length
    return (index, type: string = 'float8') => `$${first + index}::${type}`
  })
}

type Times = Pick<Names, 'now' | 'nowOnGrid'>

const BY_CLOCK: Times = { now: NOW, nowOnGrid: `floor(${NOW} * ${GRID_PER_MS}) / ${GRID_PER_MS}` }

/** Returns the SQL of a part. */
function sqlOf({ policy }: Part, state: string, write: WriteValue, times = BY_CLOCK) {
  const [step, steps] = [write(0), write(1)]
  const value: WriteValue = (index, type) => write(3 + index, type)
  return {
    ...takeKindOf(policy).sql({ state, ...times, cost: write(2), value }),
    /** Each write keeps the row for `steps` steps, counted from the current one. */
    expiresAt: `(floor(${NOW} / 1000 / ${step}) + ${steps}) * ${step}`,
  }
}

function textOf(
  table: string,
  parts: readonly Part[],
  writes: readonly WriteValue[],
  isSingle: boolean,
): string {
  const partSql = (i: number, state: string, times?: Times) =>
    sqlOf(parts[i] as Part, state, writes[i] as WriteValue, times)
  if (parts.length > 1)
    return takeParts(
      table,
      parts.map((_, i) => partSql(i, `l${i}.state`)),
    )
  const sql = partSql(0, 't.state')
  if (!isSingle) return takePart(table, rowsByClock(sql), sql, ", encode(t.key, 'hex')")
  const row = `VALUES ($1::bytea, ${readClock(sql.first)}, ${readClock(sql.expiresAt)})`
  const [{ policy }] = parts as readonly [Part]
  if (takeKindOf(policy).beginsWithTime === undefined) return takePart(table, row, sql)
  const taken = partSql(0, 't.state', AS_INSERTED)
  return takePart(table, row, { ...taken, isAllowed: `${IS_RECENT} AND ${taken.isAllowed}` })
}

const rowsByClock = ({ first, expiresAt }: PartSql) =>
  `SELECT r.key, ${first}, ${expiresAt} ${FROM_CLOCK}, unnest($1::bytea[]) AS r (key)`

/** The time that was read for a new row, before the statement locked the existing one. */
const INSERTED_AT = 'excluded.state[2]'
const AS_INSERTED: Times = { now: INSERTED_AT, nowOnGrid: INSERTED_AT }
/**
 * Whether that time can decide the charge: no charge was decided later, and the statement has not waited for
 * long. It then need not read the clock in a subquery.
 */
const IS_RECENT = `t.state[2] <= ${INSERTED_AT} AND clock_timestamp() < statement_timestamp() + '10 ms'`

type PartSql = ReturnType<typeof sqlOf>

/** Returns the statement for charges of one part. It locks the rows in the order of their keys. */
function takePart(table: string, rows: string, sql: PartSql, alsoReturn = ''): string {
  const { width, isAllowed, next, takenAt } = sql
  return [
    `INSERT INTO ${table} AS t (key, state, expires_at) ${rows}`,
    'ON CONFLICT (key) DO UPDATE',
    `SET state = ${readClock(next)}, expires_at = greatest(t.expires_at, excluded.expires_at)`,
    `WHERE cardinality(t.state) = ${width} AND ${readClock(isAllowed)}`,
    `RETURNING ${encodeAsHex(takenAt, 't.state')}${alsoReturn}`,
  ].join('\n')
}

/**
 * Returns the statement for charges of several parts. It locks the rows in the order of their keys, then
 * reads the time and decides. It cannot lock a missing row, so it fails if another transaction inserts one
 * meanwhile.
 */
function takeParts(table: string, parts: readonly PartSql[]): string {
  const each = parts.map(({ width, isAllowed, first, next, expiresAt }, i) => {
    const row = `l${i}`
    return {
      row,
      key: `key${i}`,
      keys: `$${i + 1}::bytea[]`,
      state: `CASE WHEN ${row}.is_new THEN ${first} ELSE ${next} END`,
      expiresAt,
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
