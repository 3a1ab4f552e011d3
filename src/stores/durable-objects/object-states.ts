import type { State } from '../../policies/policy.js'
import type { StateWrite } from '../shared/state-write.js'
import { identityStart } from './identity.js'
import type { ObjectStorage } from './platform.js'

/** The most rows that may wait to be written. */
const MAX_WAITING = 10_000
/** How many rows a sweep examines before it lets other requests run. */
const SWEPT_ROWS = 1000

const TABLE =
  'CREATE TABLE IF NOT EXISTS headgate (identity TEXT PRIMARY KEY, states TEXT NOT NULL, expires_at REAL NOT NULL) WITHOUT ROWID'
const SELECT = 'SELECT states FROM headgate WHERE identity = ?'
const UPSERT =
  'INSERT INTO headgate VALUES (?, ?, ?) ON CONFLICT (identity) DO UPDATE SET states = excluded.states, expires_at = excluded.expires_at'
const REMOVE = 'DELETE FROM headgate WHERE identity = ?'
const SWEPT = 'SELECT identity, expires_at FROM headgate WHERE identity > ? ORDER BY identity LIMIT ?'
const REMOVE_EXPIRED = 'DELETE FROM headgate WHERE identity > ? AND identity <= ? AND expires_at <= ?'

/** The states of an identity, each with the time at which it expires, by the scopes of its keys. */
type Row = Map<string, readonly [state: State, expiresAtMs: number]>

/**
 * The states in the storage of an object. All states of an identity are in one row, so a charge of its
 * limits writes one row. Memory holds only rows that wait to be written, because SQLite has its own cache,
 * and an object may be evicted at any time.
 *
 * There is no index of expiries, because most charges would have to write a row of it as well. Instead, a
 * sweep reads all rows. Reading a thousand rows costs as much as writing one.
 */
export class ObjectStates {
  readonly #storage: ObjectStorage
  readonly #waiting = new Map<string, Row>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(storage: ObjectStorage) {
    this.#storage = storage
    storage.sql.exec(TABLE)
  }

  read(key: string): State | undefined {
    const start = identityStart(key)
    return this.#row(key.slice(start)).get(key.slice(0, start))?.[0]
  }

  /** Writes states, all or none: now, or at most `delayMs` later. */
  write(writes: readonly StateWrite[], nowMs: number, delayMs: number): void {
    for (const { key, state, ttlMs } of writes) {
      const start = identityStart(key)
      const row = this.#row(key.slice(start))
      this.#waiting.set(key.slice(start), row)
      const scope = key.slice(0, start)
      const [, expiresAtMs = 0] = row.get(scope) ?? []
      if (state === undefined) row.delete(scope)
      // never earlier than before, because another policy of the same kind may have written the state
      else row.set(scope, [state, Math.max(nowMs + ttlMs, expiresAtMs)])
    }
    if (this.#waiting.size === 0) return
    if (delayMs === 0 || this.#waiting.size > MAX_WAITING) this.#flush(nowMs)
    else this.#timer ??= setTimeout(() => this.#flush(nowMs), delayMs)
  }

  #row(identity: string): Row {
    const waiting = this.#waiting.get(identity)
    if (waiting !== undefined) return waiting
    const [found] = this.#storage.sql.exec(SELECT, identity).toArray()
    return new Map(found && decodeRow(String(found.states)))
  }

  /** Writes all waiting rows, without the states that have expired at `nowMs`. */
  #flush(nowMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { sql } = this.#storage
    try {
      this.#storage.transactionSync(() => {
        for (const [identity, row] of this.#waiting) {
          let lastMs = 0
          for (const [scope, [, expiresAtMs]] of row)
            if (expiresAtMs <= nowMs) row.delete(scope)
            else lastMs = Math.max(lastMs, expiresAtMs)
          if (row.size === 0) sql.exec(REMOVE, identity)
          else sql.exec(UPSERT, identity, encodeRow(row), lastMs)
        }
      })
    } finally {
      this.#waiting.clear() // rows that cannot be written would fill the memory
    }
  }

  /**
   * Removes the rows that have expired at `nowMs`. Resolves with the time at which the next one expires, or
   * `Infinity`.
   */
  async sweep(nowMs: number): Promise<number> {
    const { sql } = this.#storage
    let nextMs = Number.POSITIVE_INFINITY
    let after = ''
    for (;;) {
      const rows = sql.exec(SWEPT, after, SWEPT_ROWS).toArray()
      const last = String(rows.at(-1)?.identity ?? after)
      sql.exec(REMOVE_EXPIRED, after, last, nowMs)
      for (const { expires_at } of rows)
        if (Number(expires_at) > nowMs) nextMs = Math.min(nextMs, Number(expires_at))
      if (rows.length < SWEPT_ROWS) return nextMs
      after = last
      await new Promise((resolve) => setTimeout(resolve))
    }
  }
}

/** JSON writes `null` for `Infinity`, the expiry of a state that never expires. */
function encodeRow(row: Row): string {
  return JSON.stringify(Array.from(row, ([scope, [state, expiresAtMs]]) => [scope, expiresAtMs, ...state]))
}

function decodeRow(text: string): Iterable<readonly [string, readonly [State, number]]> {
  const entries: readonly (readonly [string, number | null, ...number[]])[] = JSON.parse(text)
  return entries.map(([scope, expiresAtMs, ...state]) => [
    scope,
    [state, expiresAtMs ?? Number.POSITIVE_INFINITY],
  ])
}
