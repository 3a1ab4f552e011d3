import type { Policy } from '../../policies/policy.js'
import { expiryStepS, NEVER_S } from '../sql/expiry.js'
import { NOW, sent } from './clock.js'
import { type PostgresQuery, preparing } from './postgres-client.js'

/** How a kind of policy takes: translations of `take` for the common case. What they refuse is decided by `take` itself, so they may only be too strict. */
interface Taking {
  /** The state of a new row. */
  readonly first: string
  /** The state that follows that of a row `t`. */
  readonly next: string
  readonly isAllowed: string
}

const COST = '$2::float8'
const GRID = 4096

/** State: when the bucket will be full, on the policy's grid. $3 is what a unit takes to come back, $4 what all take. */
function tokenBucketTaking(): Taking {
  const now = `(floor(${NOW} * ${GRID}) / ${GRID})`
  const after = `(greatest(t.state[1] - ${now}, 0) + ${COST} * $3::float8)`
  return {
    first: `ARRAY[${now} + ${COST} * $3::float8]`,
    next: `ARRAY[${now} + ${after}]`,
    isAllowed: `${after} <= $4::float8`,
  }
}

/** State: the window's index, and the count. $3 is the window, $4 the limit. A window that is ahead is left to the policy. */
function fixedWindowTaking(): Taking {
  const index = `floor(${NOW} / $3::float8)`
  const count = `(CASE WHEN t.state[1] = ${index} THEN t.state[2] ELSE 0 END + ${COST})`
  return {
    first: `ARRAY[${index}, ${COST}]`,
    next: `ARRAY[${index}, ${count}]`,
    isAllowed: `t.state[1] <= ${index} AND ${count} <= $4::float8`,
  }
}

/** State: the count. $4 is the limit. */
function consecutiveTaking(): Taking {
  return {
    first: `ARRAY[${COST} + 0 * $3::float8]`,
    next: `ARRAY[t.state[1] + ${COST}]`,
    isAllowed: `t.state[1] + ${COST} <= $4::float8`,
  }
}

/** A kind of policy that has a statement: its text, and the values of its $3 and $4. */
interface Kind {
  readonly taking: Taking
  numbersOf(params: readonly number[]): readonly number[]
}

const KINDS: Readonly<Record<string, Kind>> = {
  'token-bucket': {
    taking: tokenBucketTaking(),
    numbersOf: ([capacity = 0, intervalMs = 0]) => [intervalMs, capacity * intervalMs],
  },
  'fixed-window': {
    taking: fixedWindowTaking(),
    numbersOf: ([limit = 0, windowMs = 0]) => [windowMs, limit],
  },
  consecutive: { taking: consecutiveTaking(), numbersOf: ([limit = 0]) => [0, limit] },
}

/**
 * Takes units of a key by one statement, which gives the state that follows and the time; no row where that may not be. There is
 * none for some kinds of policies.
 */
export function takingStatements(
  table: string,
): (policy: Policy, key: Buffer, cost: number) => PostgresQuery | undefined {
  const statements = new Map(
    Object.entries(KINDS).map(([kind, { taking, numbersOf }]) => [
      kind,
      { query: preparing(textOf(table, taking)), numbersOf },
    ]),
  )
  return (policy, key, cost) => {
    const statement = statements.get(policy.kind)
    if (statement === undefined) return undefined
    const keptMs = Math.min(policy.windowMs, NEVER_S * 1000)
    return statement.query([key, cost, ...statement.numbersOf(policy.params), keptMs, expiryStepS(policy)])
  }
}

/** $5 is for how many milliseconds the row is kept at the least, $6 the step of its expiry in seconds. */
function textOf(table: string, { first, next, isAllowed }: Taking): string {
  const expiry = `least((floor((${NOW} + $5::float8) / 1000 / $6::float8) + 1) * $6::float8, ${NEVER_S})`
  return [
    `INSERT INTO ${table} AS t (key, state, expires_at) VALUES ($1, ${first}, ${expiry})`,
    `ON CONFLICT (key) DO UPDATE SET state = ${next}, expires_at = excluded.expires_at`,
    `WHERE ${isAllowed} RETURNING ${sent('t.state', 'array')}, ${sent(NOW)}`,
  ].join('\n')
}
