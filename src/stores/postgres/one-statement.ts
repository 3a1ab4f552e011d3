import type { Policy } from '../../policies/policy.js'
import { expiryStepS, NEVER_S } from '../sql/expiry.js'
import { type PostgresQuery, type Prepared, preparing } from './postgres-client.js'
import { NOW, sent } from './sent.js'

/**
 * How a kind of policy takes: a translation of `take` for the common case. What it refuses is decided by `take` itself, so it may
 * only be too strict.
 */
interface Taking {
  /** The values of its $5 and those that follow, from the policy's `params`. */
  numbersOf(params: readonly number[]): readonly number[]
  /** How long a state may take to become fresh. */
  keptMs(params: readonly number[]): number
  /** The state of a new row. */
  readonly first: string
  /** The state that follows that of a row `t`. The short way to what `first` holds is `excluded.state`. */
  readonly next: string
  readonly isAllowed: string
}

const COST = '$2::float8'
const GRID = 4096

/** State: when the bucket will be full, on the policy's grid. $5 is what a unit takes to come back, $6 what all take. */
function tokenBucketTaking(): Taking {
  const now = `(floor(${NOW} * ${GRID}) / ${GRID})`
  const next = `greatest(excluded.state[1], t.state[1] + ${COST} * $5::float8)`
  return {
    numbersOf: ([capacity = 0, intervalMs = 0]) => [intervalMs, capacity * intervalMs],
    keptMs: ([capacity = 0, intervalMs = 0]) => capacity * intervalMs,
    first: `ARRAY[${now} + ${COST} * $5::float8]`,
    next: `ARRAY[${next}]`,
    isAllowed: `t.state[1] IS NOT NULL AND ${next} <= ${now} + $6::float8`, // greatest looks away from NULL
  }
}

/** State: the window's index, and the count. $5 is the limit, $6 the window. A window that is ahead is left to the policy. */
function fixedWindowTaking(): Taking {
  const count = `(CASE WHEN t.state[1] = excluded.state[1] THEN t.state[2] ELSE 0 END + ${COST})`
  return {
    numbersOf: (params) => params,
    keptMs: ([, windowMs = 0]) => windowMs,
    first: `ARRAY[floor(${NOW} / $6::float8), ${COST}]`,
    next: `ARRAY[excluded.state[1], ${count}]`,
    isAllowed: `t.state[1] <= excluded.state[1] AND ${count} <= $5::float8`,
  }
}

/**
 * State: the newest slice's index, then its counter and those of the $7 slices before it. $5 is the limit, $6 the window. A slice
 * that is ahead is left to the policy.
 */
function slidingWindowTaking(): Taking {
  const [limit, window, slices] = ['$5::float8', '$6::float8', '$7::int']
  const ticks = `floor(${NOW}) * ${slices}`
  const by = `least(excluded.state[1] - t.state[1], ${slices} + 1)::int` // the counters move by so many places
  const whole = `(SELECT coalesce(sum(c), 0) FROM unnest(t.state[2 : ${slices} + 1 - ${by}]) AS c)`
  const oldest = `coalesce((t.state[2 : ${slices} + 2])[${slices} + 1 - ${by}], 0)`
  const inside = `floor(${oldest} * (${window} - (${ticks} - excluded.state[1] * ${window})) / ${window})`
  const same = `ARRAY[t.state[1], t.state[2] + ${COST}] || t.state[3 : ${slices} + 2]`
  const moved = `excluded.state[1 : ${by} + 1] || t.state[2 : ${slices} + 2 - ${by}]`
  return {
    numbersOf: (params) => params,
    keptMs: ([, windowMs = 0, slices = 1]) => windowMs + Math.ceil(windowMs / slices),
    first: `ARRAY[floor(${ticks} / ${window}), ${COST}] || array_fill(0::float8, ARRAY[${slices}])`,
    next: `CASE WHEN t.state[1] = excluded.state[1] THEN ${same} ELSE ${moved} END`,
    isAllowed: `t.state[1] <= excluded.state[1] AND ${whole} + ${inside} + ${COST} <= ${limit}`,
  }
}

/** State: the count. $5 is the limit. */
function consecutiveTaking(): Taking {
  return {
    numbersOf: (params) => params,
    keptMs: () => NEVER_S * 1000,
    first: `ARRAY[${COST}]`,
    next: `ARRAY[t.state[1] + ${COST}]`,
    isAllowed: `t.state[1] + ${COST} <= $5::float8`,
  }
}

const KINDS: Readonly<Record<Policy['kind'], Taking>> = {
  'token-bucket': tokenBucketTaking(),
  'fixed-window': fixedWindowTaking(),
  'sliding-window': slidingWindowTaking(),
  consecutive: consecutiveTaking(),
}

/** Takes units of a key by one statement, which gives the state that follows and the time; no row where that may not be. */
export function takingStatements(
  table: string,
): (policy: Policy, key: Buffer, cost: number) => PostgresQuery {
  const kinds = new Map(
    Object.entries(KINDS).map(([kind, taking]) => {
      return [kind, { ...taking, query: preparing(textOf(table, taking)) }]
    }),
  )
  return (policy, key, cost) => {
    const { query, numbersOf, keptMs } = kinds.get(policy.kind) as Taking & { query: Prepared }
    const { params } = policy
    return query([key, cost, keptMs(params), expiryStepS(policy), ...numbersOf(params)])
  }
}

/** $3 is for how many milliseconds the row is kept at the least, $4 the step of its expiry in seconds. */
function textOf(table: string, { first, next, isAllowed }: Taking): string {
  const expiry = `least((floor((${NOW} + $3::float8) / 1000 / $4::float8) + 1) * $4::float8, ${NEVER_S})`
  return [
    `INSERT INTO ${table} AS t (key, state, expires_at) VALUES ($1, ${first}, ${expiry})`,
    `ON CONFLICT (key) DO UPDATE SET state = ${next}, expires_at = excluded.expires_at`,
    `WHERE ${isAllowed} RETURNING ${sent(NOW, 't.state')}`,
  ].join('\n')
}
