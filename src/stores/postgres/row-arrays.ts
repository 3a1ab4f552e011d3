import type { Row } from '../sql/database.js'

/** What stands for itself in an array of bytes in a string: ASCII without quotes and backslashes. */
const PLAIN = /^[ -~]*$/
const NOT_PLAIN = /["'\\]/

/** Arrays are constants to the server, which takes them in sooner than lists of values. */
export function byteaArray(keys: readonly string[]): string {
  return `E'{${keys.map(byteaElement)}}'::bytea[]`
}

function byteaElement(key: string): string {
  if (PLAIN.test(key) && !NOT_PLAIN.test(key)) return `"${key}"`
  return `"\\\\\\\\x${Buffer.from(key).toString('hex')}"`
}

/** Rows as a table `r`, and its columns as those of ours. */
export const COLUMNS = ['r.key', 'r.state::float8[]', 'r.expires_at']
export function unnested(rows: readonly Row[]): string {
  const keys = byteaArray(rows.map(({ key }) => key))
  const states = `'{${rows.map(({ state }) => `"{${state}}"`)}}'::text[]`
  const expiries = `'{${rows.map(({ expiresAtS }) => expiresAtS)}}'::bigint[]`
  return `unnest(${keys}, ${states}, ${expiries}) AS r (key, state, expires_at)`
}
