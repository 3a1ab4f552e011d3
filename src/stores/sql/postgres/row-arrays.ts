import type { Row } from '../dialect.js'

/** What stands for itself in an array in a string: ASCII without quotes and backslashes. */
const PLAIN = /^[ !#-&(-[\]-~]*$/

/** Keys as an array of bytes. Arrays are constants to the server, which takes them in sooner than lists of values. */
export function byteaArray(keys: readonly string[]): string {
  return `E'{${keys.map(byteaElement)}}'::bytea[]`
}

function byteaElement(key: string): string {
  return PLAIN.test(key) ? `"${key}"` : `"\\\\\\\\x${Buffer.from(key).toString('hex')}"`
}

/** Rows as a table `r`, and its columns as those of ours. */
const [KEY, STATE, EXPIRES_AT] = ['r.key', 'r.state::float8[]', 'r.expires_at']
function unnested(rows: readonly Row[]): string {
  const keys = byteaArray(rows.map(({ key }) => key))
  const states = `'{${rows.map(({ state }) => `"{${state}}"`)}}'::text[]`
  const expiries = `'{${rows.map(({ expiresAtS }) => expiresAtS)}}'::bigint[]`
  return `unnest(${keys}, ${states}, ${expiries}) AS r (key, state, expires_at)`
}

export function inserting(table: string, rows: readonly Row[]): string {
  return `INSERT INTO ${table} (key, state, expires_at) SELECT ${KEY}, ${STATE}, ${EXPIRES_AT} FROM ${unnested(rows)}`
}

export function updating(table: string, rows: readonly Row[]): string {
  return `UPDATE ${table} AS t SET state = ${STATE}, expires_at = ${EXPIRES_AT} FROM ${unnested(rows)} WHERE t.key = ${KEY}`
}

export function deleting(table: string, keys: readonly string[]): string {
  return `DELETE FROM ${table} WHERE key = ANY(${byteaArray(keys)})`
}
