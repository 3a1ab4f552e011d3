import type { BaseKind, Policy } from '../../../policies/policy.js'
import { expiryStepS, NEVER_S } from '../expiry.js'
import { type PostgresQuery, type Prepared, preparing } from './client.js'
import { NOW, sent } from './codec.js'

/**
 * How a kind of policy takes: a translation of `take` for the common case. What it refuses is decided by `take` itself, so it may
 * only be too strict. The fewer operators, the sooner the server has the statement ready: what depends on the charge alone is
 * computed here, and what `first` holds is read from `excluded.state`.
 */
interface Taking {
  /** The values of its $4 and those that follow. */
  numbersOf(params: readonly number[], cost: number): readonly number[]
  /** How long a state may take to become fresh. */
  keptMs(params: readonly number[]): number
  /** The state of a new row. */
  readonly first: string
  /** The state that follows that of a row `t`. */
  readonly next: string
  readonly isAllowed: string
}

const GRID = 4096

/** State: when the bucket will be full, on the policy's grid. $4 is how long the cost takes to come back, $5 how long the rest. */
function tokenBucketTaking(): Taking {
  return {
    numbersOf: ([capacity = 0, intervalMs = 0], cost) => [cost * intervalMs, (capacity - cost) * intervalMs],
    keptMs: ([capacity = 0, intervalMs = 0]) => capacity * intervalMs,
    first: `ARRAY[floor(${NOW} * ${GRID}) / ${GRID} + $4::float8]`,
    next: 'ARRAY[greatest(excluded.state[1], t.state[1] + $4::float8)]',
    isAllowed: 't.state[1] + $4::float8 <= excluded.state[1] + $5::float8',
  }
}

/** State: the window's index, and the count. $4 is the cost, $5 the window, $6 how much of the limit the cost leaves. */
function fixedWindowTaking(): Taking {
  const count = '(CASE WHEN t.state[1] = excluded.state[1] THEN t.state[2] ELSE 0 END)'
  return {
    numbersOf: ([limit = 0, windowMs = 0], cost) => [cost, windowMs, limit - cost],
    keptMs: ([, windowMs = 0]) => windowMs,
    first: `ARRAY[floor(${NOW} / $5::float8), $4::float8]`,
    next: `ARRAY[excluded.state[1], ${count} + $4::float8]`,
    isAllowed: `t.state[1] <= excluded.state[1] AND ${count} <= $6::float8`, // one that is ahead is left to the policy
  }
}

/**
 * State: the newest slice's index, then its counter and those of the slices before it. $4 is the cost, $5 the window, $6 how much of
 * the limit the cost leaves, $7 the number of slices.
 */
function slidingWindowTaking(): Taking {
  const [cost, window, room, slices] = ['$4::float8', '$5::float8', '$6::float8', '$7::int']
  const ticks = `floor(${NOW}) * ${slices}`
  const by = `least(excluded.state[1] - t.state[1], ${slices} + 1)::int` // the counters move by so many places
  const whole = `(SELECT coalesce(sum(c), 0) FROM unnest(t.state[2 : ${slices} + 1 - ${by}]) AS c)`
  const oldest = `coalesce((t.state[2 : ${slices} + 2])[${slices} + 1 - ${by}], 0)`
  const inside = `floor(${oldest} * (${window} - (${ticks} - excluded.state[1] * ${window})) / ${window})`
  const same = `ARRAY[t.state[1], t.state[2] + ${cost}] || t.state[3 : ${slices} + 2]`
  const moved = `excluded.state[1 : ${by} + 1] || t.state[2 : ${slices} + 2 - ${by}]`
  return {
    numbersOf: ([limit = 0, windowMs = 0, count = 0], taken) => [taken, windowMs, limit - taken, count],
    keptMs: ([, windowMs = 0, count = 1]) => windowMs + Math.ceil(windowMs / count),
    first: `ARRAY[floor(${ticks} / ${window}), ${cost}] || array_fill(0::float8, ARRAY[${slices}])`,
    next: `CASE WHEN t.state[1] = excluded.state[1] THEN ${same} ELSE ${moved} END`,
    isAllowed: `t.state[1] <= excluded.state[1] AND ${whole} + ${inside} <= ${room}`, // one that is ahead is left to the policy
  }
}

/** State: the count. $4 is the cost, $5 how much of the limit it leaves. */
function consecutiveTaking(): Taking {
  return {
    numbersOf: ([limit = 0], cost) => [cost, limit - cost],
    keptMs: () => NEVER_S * 1000,
    first: 'ARRAY[$4::float8]',
    next: 'ARRAY[t.state[1] + $4::float8]',
    isAllowed: 't.state[1] <= $5::float8',
  }
}

const KINDS: Readonly<Record<BaseKind, Taking>> = {
  'token-bucket': tokenBucketTaking(),
  'fixed-window': fixedWindowTaking(),
  'sliding-window': slidingWindowTaking(),
  consecutive: consecutiveTaking(),
}

/** Whether units of a policy can be taken by one statement. A ban writes when it denies as well, which takes more than that. */
export function isTakenAtOnce({ kind }: Policy): boolean {
  return kind in KINDS
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
    const stepS = expiryStepS(policy)
    const steps = Math.ceil(keptMs(policy.params) / (stepS * 1000)) + 1
    return query([key, stepS, steps, ...numbersOf(policy.params, cost)])
  }
}

/** The row is kept for so many steps of $2 seconds from the one in which it is written: $3. */
function textOf(table: string, { first, next, isAllowed }: Taking): string {
  const expiry = "(floor(date_part('epoch', now()) / $2::float8) + $3::float8) * $2::float8"
  return [
    `INSERT INTO ${table} AS t (key, state, expires_at) VALUES ($1, ${first}, ${expiry})`,
    `ON CONFLICT (key) DO UPDATE SET state = ${next}, expires_at = excluded.expires_at`,
    `WHERE ${isAllowed} RETURNING ${sent(NOW, 't.state')}`,
  ].join('\n')
}
